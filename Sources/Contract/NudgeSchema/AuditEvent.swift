/// A record of `nudge.audit`, key replayId: what was replayed, set aside or erased, by whom, and why.
public typealias AuditEvent = Event<AuditEventBody>

/// The actions of a person on call.
public enum AuditEventBody: EventBody {
  /// A replay began or was resumed.
  case started(ReplayStarted)
  /// A replay's progress, written in one transaction with the candidates it counts.
  case progressed(ReplayProgressed)
  /// A replay ended.
  case ended(ReplayEnded)
  /// Somebody stopped a replay; it cannot be resumed.
  case stopped(ReplayStopRequest)
  /// Dead letters were replayed or discarded, recorded in one transaction with what was written.
  case deadLettersHandled(DeadLettersHandled)
  /// Another command that writes was run, such as an erasure.
  case commandExecuted(CommandExecuted)

  /// The types of this body, by their names on the wire.
  public static let types: [EventType] = [
    .replayStarted, .replayProgressed, .replayEnded, .replayStopped, .deadLettersHandled, .commandExecuted,
  ]

  /// The type's name on the wire.
  public var type: EventType {
    switch self {
    case .started: .replayStarted
    case .progressed: .replayProgressed
    case .ended: .replayEnded
    case .stopped: .replayStopped
    case .deadLettersHandled: .deadLettersHandled
    case .commandExecuted: .commandExecuted
    }
  }

  /// The replay, the record's key.
  public var replayId: String {
    switch self {
    case .started(let fields): fields.replayId
    case .progressed(let fields): fields.replayId
    case .ended(let fields): fields.replayId
    case .stopped(let fields): fields.replayId
    case .deadLettersHandled(let fields): fields.replayId
    case .commandExecuted(let fields): fields.replayId
    }
  }

  /// Reads the fields of `type`. Throws `EventFormatError.unknownType` for one that is not in `types`.
  public init(type: EventType, from decoder: any Decoder) throws {
    switch type {
    case .replayStarted: self = .started(try ReplayStarted(from: decoder))
    case .replayProgressed: self = .progressed(try ReplayProgressed(from: decoder))
    case .replayEnded: self = .ended(try ReplayEnded(from: decoder))
    case .replayStopped: self = .stopped(try ReplayStopRequest(from: decoder))
    case .deadLettersHandled: self = .deadLettersHandled(try DeadLettersHandled(from: decoder))
    case .commandExecuted: self = .commandExecuted(try CommandExecuted(from: decoder))
    default: throw EventFormatError.unknownType(type.rawValue, of: Self.types)
    }
  }

  /// Writes the fields beside the envelope's.
  public func encodeFields(to encoder: any Encoder) throws {
    switch self {
    case .started(let fields): try fields.encode(to: encoder)
    case .progressed(let fields): try fields.encode(to: encoder)
    case .ended(let fields): try fields.encode(to: encoder)
    case .stopped(let fields): try fields.encode(to: encoder)
    case .deadLettersHandled(let fields): try fields.encode(to: encoder)
    case .commandExecuted(let fields): try fields.encode(to: encoder)
    }
  }
}

/// The mode of a replay.
public enum ReplayMode: String, NamedValue {
  /// Decides again and notifies those who were not notified, for messages that are still fresh.
  case resendMissing = "resend-missing"
  /// Notifies again, with new pushes.
  case force
  /// Sends new pushes to the devices on which a push failed.
  case resendFailed = "resend-failed"
  /// Decides for people who were not recipients when the message arrived.
  case rederive
}

/// `replay.started`.
public struct ReplayStarted: Codable, Sendable, Equatable {
  /// The replay.
  public var replayId: String
  /// Which notifications the replay makes.
  public var mode: ReplayMode
  /// The operator who started it.
  public var who: String
  /// Why, in their words.
  public var why: String
  /// The selection, by the names of the command's flags.
  public var selection: [String: String]
  /// Notifications that the dry run counted, by their expected result.
  public var counts: [String: Int]
  /// true if the replay was resumed after an interruption.
  public var resumed: Bool?

  /// The event's fields.
  public init(
    replayId: String, mode: ReplayMode, who: String, why: String, selection: [String: String], counts: [String: Int],
    resumed: Bool? = nil
  ) {
    self.replayId = replayId
    self.mode = mode
    self.who = who
    self.why = why
    self.selection = selection
    self.counts = counts
    self.resumed = resumed
  }
}

/// `replay.progressed`.
public struct ReplayProgressed: Codable, Sendable, Equatable {
  /// The replay.
  public var replayId: String
  /// Candidates written so far, since the replay began.
  public var candidates: Int
  /// Recipients of all of them.
  public var recipients: Int
  /// By partition of `nudge.timeline` (as text): the offset after the last candidate that is done.
  public var next: [String: Int64]

  /// The event's fields.
  public init(replayId: String, candidates: Int, recipients: Int, next: [String: Int64]) {
    self.replayId = replayId
    self.candidates = candidates
    self.recipients = recipients
    self.next = next
  }
}

/// `replay.ended`.
public struct ReplayEnded: Codable, Sendable, Equatable {
  /// How a replay ended.
  public enum Result: String, NamedValue {
    /// All selected candidates are written.
    case completed
    /// The replay stopped by itself because errors or lag rose. It can be resumed.
    case stopped
  }
  /// The replay.
  public var replayId: String
  /// How it ended.
  public var result: Result
  /// Why it stopped by itself; absent if it completed.
  public var reason: String?
  /// Candidates written since the replay began.
  public var candidates: Int
  /// Recipients of all of them.
  public var recipients: Int

  /// The event's fields.
  public init(replayId: String, result: Result, reason: String? = nil, candidates: Int, recipients: Int) {
    self.replayId = replayId
    self.result = result
    self.reason = reason
    self.candidates = candidates
    self.recipients = recipients
  }
}

/// `replay.stopped`.
public struct ReplayStopRequest: Codable, Sendable, Equatable {
  /// The replay.
  public var replayId: String
  /// The operator who stopped it.
  public var who: String
  /// Why, in their words.
  public var why: String

  /// The event's fields.
  public init(replayId: String, who: String, why: String) {
    self.replayId = replayId
    self.who = who
    self.why = why
  }
}

/// `dead_letters.handled`.
public struct DeadLettersHandled: Codable, Sendable, Equatable {
  /// The action.
  public enum Action: String, NamedValue {
    /// The records were written again to the topic they came from.
    case replayed
    /// The records were discarded: nobody will process them.
    case discarded
    /// The records were corrected and written to the topic they came from.
    case edited
  }
  /// Dead letters of a partition.
  public struct Letters: Codable, Sendable, Equatable {
    /// The partition of `nudge.dead-letters`.
    public var partition: Int32
    /// Their offsets.
    public var offsets: [Int64]

    /// Dead letters of a partition.
    public init(partition: Int32, offsets: [Int64]) {
      self.partition = partition
      self.offsets = offsets
    }
  }
  /// The replay's id; a discard has one too.
  public var replayId: String
  /// The action.
  public var action: Action
  /// The operator who ran it.
  public var who: String
  /// Why, in their words.
  public var why: String
  /// The dead letters, by partition.
  public var letters: [Letters]
  /// Names of the fields that an edit changed, without their values. Absent for other actions.
  public var changed: [String]?

  /// The event's fields.
  public init(
    replayId: String, action: Action, who: String, why: String, letters: [Letters], changed: [String]? = nil
  ) {
    self.replayId = replayId
    self.action = action
    self.who = who
    self.why = why
    self.letters = letters
    self.changed = changed
  }
}

/// `command.executed`.
public struct CommandExecuted: Codable, Sendable, Equatable {
  /// The record's key: an id of this one execution, like a replay's.
  public var replayId: String
  /// The command: `erase`, `state rebuild`, `topics repartition`.
  public var command: String
  /// The operator who ran it.
  public var who: String
  /// Why, in their words; empty where the command does not require it.
  public var why: String
  /// Its effect, by names such as `stage`. A person appears as the hash of the id.
  public var details: [String: String]

  /// The event's fields.
  public init(replayId: String, command: String, who: String, why: String, details: [String: String]) {
    self.replayId = replayId
    self.command = command
    self.who = who
    self.why = why
    self.details = details
  }
}
