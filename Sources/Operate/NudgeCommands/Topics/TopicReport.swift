import ServiceKit

/// How the pipeline's topics are, or have become.
public struct TopicReport: Sendable, Equatable, Encodable {
  /// One topic.
  public struct Entry: Sendable, Equatable, Encodable {
    /// What there is of it.
    public enum Status: String, Sendable, Encodable {
      /// It was made just now.
      case created
      /// It was there and is as planned.
      case exists
      /// It was there and differs from its plan.
      case differs
      /// It is not there.
      case missing
      /// It could not be made.
      case failed
    }

    /// The full name, with the deployment's prefix.
    public var name: String
    /// What there is of it.
    public var status: Status
    /// How many partitions it has; nil where it is not there.
    public var partitions: Int?
    /// How it differs from its plan, or why it could not be made; a sentence each.
    public var differences: [String]
    /// Its settings as far as the plan has them; empty where the broker does not tell them.
    public var configuration: [String: String]
  }

  /// All of the pipeline's topics, in the catalogue's order.
  public var topics: [Entry]

  /// Whether every topic is there and as planned.
  public var isGood: Bool { topics.allSatisfy { $0.status == .created || $0.status == .exists } }

  /// For a person: a line a topic, and a line for each difference.
  public var text: String {
    let width = topics.map(\.name.count).max() ?? 0
    return topics.map { entry in
      let name = entry.name + String(repeating: " ", count: width - entry.name.count)
      let count = entry.partitions.map { "  \($0) partitions" } ?? ""
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
