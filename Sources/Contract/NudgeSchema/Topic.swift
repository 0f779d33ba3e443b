/// The topics of the pipeline, by the names of the catalogue.
public enum Topic: String, Sendable, CaseIterable, Codable {
  /// Conversations and messages, from producers; key conversationId.
  case chatEvents = "chat.events"
  /// Preferences, devices and actions of people, from producers and apps; key userId.
  case userEvents = "user.events"
  /// Which person has a device's token; key token hash.
  case deviceClaims = "nudge.device-claims"
  /// Everything that concerns a person, in order; key userId. A candidate has its conversation as the key and an
  /// explicit partition.
  case timeline = "nudge.timeline"
  /// One decision with its reasons per person and message; key userId.
  case decisions = "nudge.decisions"
  /// Pushes and cancellations; key userId.
  case pushes = "nudge.pushes"
  /// In-app banners and notices; key userId.
  case banners = "nudge.banners"
  /// The result of each push on each device; key userId.
  case outcomes = "nudge.outcomes"
  /// Records that could not be processed, with the reason; the record's own key.
  case deadLetters = "nudge.dead-letters"
  /// Replays and other commands that write, with their operators; key replayId.
  case audit = "nudge.audit"
  /// Changelog of ingest's state.
  case ingestState = "nudge.ingest-state"
  /// Changelog of the analyzer's state.
  case analyzerState = "nudge.analyzer-state"
  /// Changelog of the dispatcher's state.
  case dispatcherState = "nudge.dispatcher-state"

  /// Whether only Nudge's own stages and commands write to the topic. If so, a record of an unknown kind comes from a
  /// later release, not from a producer's mistake.
  public var isWrittenByNudgeOnly: Bool {
    switch self {
    case .chatEvents, .userEvents: false
    case .deviceClaims, .timeline, .decisions, .pushes, .banners, .outcomes, .deadLetters, .audit: true
    case .ingestState, .analyzerState, .dispatcherState: true
    }
  }
}

/// Topic names with the deployment's prefix (`--topic-prefix`). With different prefixes several pipelines share a
/// cluster.
public struct TopicNames: Sendable, Hashable {
  /// The beginning of every name of a topic or consumer group; may be empty.
  public var prefix: String

  /// Names with a prefix.
  public init(prefix: String = "") { self.prefix = prefix }

  /// The topic's full name.
  public func callAsFunction(_ topic: Topic) -> String { prefix + topic.rawValue }

  /// The topic of a full name; nil if it is none of Nudge's.
  public func topic(named name: String) -> Topic? {
    name.hasPrefix(prefix) ? Topic(rawValue: String(name.dropFirst(prefix.count))) : nil
  }
}

/// The configuration that the pipeline needs of a topic.
public struct TopicPlan: Sendable, Equatable {
  /// The topic.
  public var topic: Topic
  /// Whether the log is compacted by key (state) instead of being deleted by age.
  public var compacted: Bool
  /// How long records are kept, in milliseconds; nil for a compacted topic.
  public var retention: Milliseconds?
  /// How long Kafka writes to a segment of the log, in milliseconds. A broker removes only whole segments, so a record
  /// may outlive its retention by this time.
  public var segment: Milliseconds
  /// The largest record batch in bytes.
  public var maxMessageBytes: Int

  private static let day: Milliseconds = 86_400_000

  /// The plan of a topic.
  public init(_ topic: Topic) {
    self.topic = topic
    maxMessageBytes = 4 << 20
    compacted = false
    switch topic {
    case .chatEvents, .userEvents, .deviceClaims, .timeline: retention = 7 * Self.day
    case .decisions, .outcomes, .deadLetters: retention = 30 * Self.day
    case .pushes: retention = 2 * Self.day
    case .banners: retention = Self.day / 24
    case .audit: retention = 365 * Self.day
    case .ingestState, .analyzerState, .dispatcherState:
      compacted = true
      retention = nil
    }
    segment = min(Self.day, (retention ?? .max) / 6)
  }

  /// The topic's settings at creation, by Kafka's names.
  public var configuration: [String: String] {
    var settings = ["max.message.bytes": String(maxMessageBytes), "segment.ms": String(segment)]
    if let retention {
      settings["cleanup.policy"] = "delete"
      settings["retention.ms"] = String(retention)
    } else {
      settings["cleanup.policy"] = "compact"
      settings["min.cleanable.dirty.ratio"] = "0.1"
      // Tombstones outlive every store file that may need them: a store older than this is rebuilt.
      settings["delete.retention.ms"] = String(7 * Self.day)
      // Compaction removes overwritten and erased rows within a day, even if little is written (D16).
      settings["max.compaction.lag.ms"] = String(Self.day)
    }
    return settings
  }

  /// Every topic's plan.
  public static var all: [TopicPlan] { Topic.allCases.map { TopicPlan($0) } }

  /// The default number of partitions.
  public static let defaultPartitions: Int32 = 12
}
