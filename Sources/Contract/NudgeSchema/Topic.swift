/// The topics of the pipeline, by the names of the catalogue.
public enum Topic: String, Sendable, CaseIterable, Codable {
  /// Conversations and messages, from producers; key conversationId.
  case chatEvents = "chat.events"
  /// Preferences, devices and actions of people, from producers and apps; key userId.
  case userEvents = "user.events"
  /// Which person a device's token belongs to; key token hash.
  case deviceClaims = "nudge.device-claims"
  /// All that concerns a person, in order; key userId (a candidate's partition is set, its key is the conversation).
  case timeline = "nudge.timeline"
  /// One record a person and message: what was decided, and why; key userId.
  case decisions = "nudge.decisions"
  /// Pushes and cancellations; key userId.
  case pushes = "nudge.pushes"
  /// In-app banners and notices; key userId.
  case banners = "nudge.banners"
  /// The result of each push on each device; key userId.
  case outcomes = "nudge.outcomes"
  /// Records that could not be processed, with the reason; key as it was.
  case deadLetters = "nudge.dead-letters"
  /// Replays and those who ran them; key replayId.
  case audit = "nudge.audit"
  /// Changelog of ingest's state.
  case ingestState = "nudge.ingest-state"
  /// Changelog of the analyzer's state.
  case analyzerState = "nudge.analyzer-state"
  /// Changelog of the dispatcher's state.
  case dispatcherState = "nudge.dispatcher-state"

  /// Whether only Nudge's own stages and commands write to the topic. A record of an unknown kind there comes from a later
  /// release, not from a producer's mistake.
  public var isWrittenByNudgeOnly: Bool {
    switch self {
    case .chatEvents, .userEvents: false
    case .deviceClaims, .timeline, .decisions, .pushes, .banners, .outcomes, .deadLetters, .audit: true
    case .ingestState, .analyzerState, .dispatcherState: true
    }
  }
}

/// Topic names with the deployment's prefix (`--topic-prefix`), so that several pipelines share a cluster.
public struct TopicNames: Sendable, Hashable {
  /// Put before every topic's and consumer group's name; may be empty.
  public var prefix: String

  /// Names with a prefix.
  public init(prefix: String = "") { self.prefix = prefix }

  /// The topic's full name.
  public func callAsFunction(_ topic: Topic) -> String { prefix + topic.rawValue }

  /// The topic of a full name; nil: it is not one of Nudge's.
  public func topic(named name: String) -> Topic? {
    name.hasPrefix(prefix) ? Topic(rawValue: String(name.dropFirst(prefix.count))) : nil
  }
}

/// How a topic must be configured for the pipeline to be right.
public struct TopicPlan: Sendable, Equatable {
  /// The topic.
  public var topic: Topic
  /// Whether the log is compacted by key (state) instead of cut by age.
  public var compacted: Bool
  /// How long records are kept, in milliseconds; nil where compacted.
  public var retention: Milliseconds?
  /// How long a segment of the log is written to, in milliseconds. A broker removes whole segments, so a record may stay for
  /// this long beyond its retention.
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

  /// The topic's settings at creation, as Kafka names them.
  public var configuration: [String: String] {
    var settings = ["max.message.bytes": String(maxMessageBytes), "segment.ms": String(segment)]
    if let retention {
      settings["cleanup.policy"] = "delete"
      settings["retention.ms"] = String(retention)
    } else {
      settings["cleanup.policy"] = "compact"
      settings["min.cleanable.dirty.ratio"] = "0.1"
      // Tombstones stay longer than any store file that may still need them: a store older than this is rebuilt.
      settings["delete.retention.ms"] = String(7 * Self.day)
      // Compaction removes overwritten and erased rows within a day, however little is written (D16).
      settings["max.compaction.lag.ms"] = String(Self.day)
    }
    return settings
  }

  /// Every topic's plan.
  public static var all: [TopicPlan] { Topic.allCases.map { TopicPlan($0) } }

  /// The default number of partitions.
  public static let defaultPartitions: Int32 = 12
}
