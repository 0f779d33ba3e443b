import ServiceKit

/// The state of the pipeline's topics, or the result of creating them.
public struct TopicReport: Sendable, Equatable, Encodable {
  public struct Entry: Sendable, Equatable, Encodable {
    public enum Status: String, Sendable, Encodable {
      /// Created by this command.
      case created
      /// Exists and matches its plan.
      case exists
      /// Exists and differs from its plan.
      case differs
      /// Does not exist.
      case missing
      /// Could not be created.
      case failed
    }

    /// The full name, with the deployment's prefix.
    public var name: String
    public var status: Status
    /// The number of partitions; nil if it does not exist.
    public var partitions: Int?
    /// Differences from its plan, or why it could not be created; one sentence each.
    public var differences: [String]
    /// The settings that the plan names; empty if the broker does not return them.
    public var configuration: [String: String]
  }

  /// All of the pipeline's topics.
  public var topics: [Entry]

  /// Whether every topic exists and matches its plan.
  public var isGood: Bool { topics.allSatisfy { $0.status == .created || $0.status == .exists } }

  /// One line a topic, and one for each difference.
  public var text: String {
    let width = topics.map(\.name.count).max() ?? 0
    return topics.map { entry in
      let name = entry.name + String(repeating: " ", count: width - entry.name.count)
      let count = entry.partitions.map { "  \($0.counted("partition"))" } ?? ""
      let settings = entry.configuration.isEmpty ? "" : "  " + Self.shown(entry.configuration)
      return (["\(name)  \(entry.status.rawValue)\(count)\(settings)"] + entry.differences.map { "    \($0)" })
        .joined(separator: "\n")
    }.joined(separator: "\n")
  }

  private static func shown(_ configuration: [String: String]) -> String {
    guard configuration["cleanup.policy"] == "delete", let kept = configuration["retention.ms"].flatMap(Int64.init)
    else { return configuration["cleanup.policy"] ?? "" }
    return kept < 0 ? "kept for ever" : "kept \(Duration.milliseconds(kept).settingText)"
  }
}
