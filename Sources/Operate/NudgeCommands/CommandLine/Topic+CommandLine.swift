import NudgeSchema
import ServiceKit

extension Topic {
  /// Parses a topic's name; the prefix `nudge.` may be left out.
  /// - Throws: `SettingsError` that lists the topics.
  init(commandLine name: String) throws(SettingsError) {
    guard let topic = Topic(rawValue: name) ?? Topic(rawValue: "nudge.\(name)") else {
      throw SettingsError(
        "unknown topic \(name): use one of \(Topic.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    self = topic
  }
}
