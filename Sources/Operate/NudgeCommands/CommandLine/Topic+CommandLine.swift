import NudgeSchema
import ServiceKit

extension Topic {
  /// Parses a topic's name; the prefix `nudge.` may be left out.
  /// - Throws: `SettingsError` that lists the topics.
  init(commandLine name: String) throws(SettingsError) {
    guard let topic = Topic(rawValue: name) ?? Topic(rawValue: "nudge.\(name)") else {
      let names = Topic.allCases.map(\.rawValue)
      let short = names.map { String($0.dropFirst($0.hasPrefix("nudge.") ? 6 : 0)) }
      let meant = NearestName.of(name, among: names) ?? NearestName.of(name, among: short)
      throw SettingsError(
        "unknown topic \(name): \(meant.map { "did you mean \($0)? U" } ?? "u")se one of \(names.joined(separator: ", "))"
      )
    }
    self = topic
  }
}
