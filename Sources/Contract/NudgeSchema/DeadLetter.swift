/// Why a record could not be processed. The raw values are the catalogue's codes.
public enum DeadLetterCode: String, NamedValue {
  /// Not JSON.
  case invalidJSON = "invalid_json"
  /// Not UTF-8.
  case invalidUTF8 = "invalid_utf8"
  /// JSON, but not as the schema says.
  case schemaViolation = "schema_violation"
  /// A schema version nobody here knows.
  case unsupportedVersion = "unsupported_version"
  /// A type that does not belong on this topic.
  case unknownType = "unknown_type"
  /// Larger than a limit.
  case tooLarge = "too_large"
  /// No key.
  case missingKey = "missing_key"
  /// The key is not the one the value names.
  case keyMismatch = "key_mismatch"
  /// Older than is accepted.
  case tooOld = "too_old"
  /// Further in the future than clocks may differ.
  case fromTheFuture = "from_the_future"
  /// The sender takes no part in the conversation (M2).
  case senderNotMember = "sender_not_member"
  /// Nothing is known of the conversation.
  case unknownConversation = "unknown_conversation"
  /// The person was deleted and has not registered again (D16).
  case userDeleted = "user_deleted"
  /// The event's id is that of another event, of another type or sender (M6).
  case eventIdReused = "event_id_reused"
  /// The message's id is that of another sender's message in the conversation.
  case messageIdReused = "message_id_reused"
  /// The push service refused the request itself.
  case fcmRejected = "fcm_rejected"
  /// A defect of ours.
  case `internal`
}

/// The reason to refuse one record. The record is written to the dead letters with it, and the partition continues.
public struct Rejection: Error, Equatable, Sendable, CustomStringConvertible {
  /// The reason for machines.
  public var code: DeadLetterCode
  /// The reason for people: names the field and the limit, never a token or a message's text (T4).
  public var message: String
  /// Whether a later release may accept the record: this one does not know its schema version, its type, or the value of
  /// an enumeration. On a topic that only Nudge writes, such a record stops the stage (`Topic.isWrittenByNudgeOnly`).
  public var mayBeOfLaterRelease: Bool

  /// Refuses a record.
  /// - Parameters:
  ///   - code: The reason for machines.
  ///   - message: The reason for people, without tokens and texts of messages.
  ///   - isUnknownValue: Whether a field has the right type and a value that this release does not know.
  public init(_ code: DeadLetterCode, _ message: String, isUnknownValue: Bool = false) {
    self.code = code
    self.message = message
    mayBeOfLaterRelease = isUnknownValue || code == .unsupportedVersion || code == .unknownType
  }

  /// The reason, for logs and dead letters.
  public var description: String { "\(code.rawValue): \(message)" }
}

/// The headers of Nudge's records.
public enum RecordHeader {
  /// W3C trace context.
  public static let traceparent = "traceparent"
  /// The replay that wrote the record.
  public static let replayId = "nudge-replay-id"
  /// The name of the API key that an event came with over HTTP. A dead letter keeps it.
  public static let producer = "nudge-producer"
  /// The fields of an event that ingest ignored (`IgnoredFields`), on what it wrote of the event.
  public static let ignored = "nudge-ignored"
  /// The kind of an event's sender. Absent: a backend. `user`: the person, with a token of their own over HTTP. A dead letter keeps it.
  public static let caller = "nudge-caller"
  /// The value of `caller` for a person's own token.
  public static let user = "user"
  /// `timer.fired`: when the timer was due, a space, its name. Written and understood by the runtime.
  public static let timer = "nudge-timer"
  /// On a record that hands over the answer to an effect, for the present owner of its task: names the process. Written and understood by the
  /// runtime.
  public static let handover = "nudge-handover"
  /// On a record of `user.events` that is a question of the HTTP API (`PersonAsked`), and no event of a producer.
  public static let question = "nudge-question"
  /// On a record without a value: the level that an operator has finalised. Written by `nudge upgrade finalize`, understood by the runtime.
  public static let level = "nudge-level"
  /// Dead letters: `DeadLetterCode`.
  public static let errorCode = "nudge-error-code"
  /// Dead letters: the reason for people.
  public static let errorMessage = "nudge-error-message"
  /// Dead letters: the stage that refused it.
  public static let errorStage = "nudge-error-stage"
  /// Dead letters: where the record was.
  public static let originTopic = "nudge-origin-topic"
  /// Dead letters: where the record was.
  public static let originPartition = "nudge-origin-partition"
  /// Dead letters: where the record was.
  public static let originOffset = "nudge-origin-offset"
  /// Dead letters whose key was cut, because the whole would be larger than the topic takes: bytes kept, a slash, bytes
  /// there were. The whole record is where it was.
  public static let truncatedKey = "nudge-truncated-key"
  /// Dead letters whose headers were left out in part: how many were kept, a slash, how many there were.
  public static let truncatedHeaders = "nudge-truncated-headers"
  /// Dead letters whose value was cut: bytes kept, a slash, bytes there were.
  public static let truncatedValue = "nudge-truncated-value"
  /// Dead letters: the record's own timestamp, in milliseconds.
  public static let originTimestamp = "nudge-origin-timestamp"

  /// The headers of Kafka Streams' own dead letters (KIP-1034), which a dead letter carries beside Nudge's, for tools that read those.
  /// A dead letter of Nudge has no stack trace.
  public enum Streams {
    /// `DeadLetterCode`, in place of an exception's class.
    public static let exception = "__streams.errors.exception"
    /// The reason for people.
    public static let message = "__streams.errors.message"
    /// The topic of the refused record.
    public static let topic = "__streams.errors.topic"
    /// The partition of the refused record.
    public static let partition = "__streams.errors.partition"
    /// The offset of the refused record.
    public static let offset = "__streams.errors.offset"
  }

  /// All headers that a stage adds to a refused record. A replay removes them.
  public static let ofDeadLetters: Set<String> = [
    errorCode, errorMessage, errorStage, originTopic, originPartition, originOffset, originTimestamp, truncatedKey,
    truncatedHeaders, truncatedValue, Streams.exception, Streams.message, Streams.topic, Streams.partition,
    Streams.offset,
  ]
}

extension Rejection {
  /// The rejection of a record of an unknown type or version.
  public init(_ error: EventFormatError) {
    switch error {
    case .unsupportedVersion: self.init(.unsupportedVersion, error.description)
    case .unknownType: self.init(.unknownType, error.description)
    case .invalidTime: self.init(.schemaViolation, error.description)
    }
  }

  /// The rejection of a record that cannot be decoded. It names the field and never its value, which the decoder's own text may
  /// quote (T4).
  public init(_ error: DecodingError) {
    switch error {
    case .keyNotFound(let key, let context):
      self.init(.schemaViolation, "\(Self.path(context.codingPath + [key])) is missing")
    case .valueNotFound(_, let context):
      self.init(.schemaViolation, "\(Self.path(context.codingPath)) must not be null")
    case .typeMismatch(let type, let context):
      self.init(.schemaViolation, "\(Self.path(context.codingPath)) is not \(Self.name(of: type))")
    case .dataCorrupted(let context):
      if let name = context.underlyingError as? UnknownName {
        self.init(
          .schemaViolation,
          "\(Self.path(context.codingPath)) has none of the values allowed: \(name.known.joined(separator: ", "))",
          isUnknownValue: true)
      } else if context.codingPath.isEmpty || context.underlyingError != nil {
        // The parser's own errors have a cause, or no path. A value of the right type that does not fit has a path and no cause.
        self.init(.invalidJSON, "the record's value is not JSON")
      } else {
        self.init(
          .schemaViolation, "\(Self.path(context.codingPath)) has none of the values allowed", isUnknownValue: true)
      }
    @unknown default:
      self.init(.schemaViolation, "the record's value is not as the schema says")
    }
  }

  private static func name(of type: Any.Type) -> String {
    switch type {
    case is String.Type: "a string"
    case is Bool.Type: "true or false"
    case is any BinaryInteger.Type: "an integer"
    case is any BinaryFloatingPoint.Type: "a number"
    case is [Any].Type: "an array"
    default: "an object"
    }
  }

  private static func path(_ codingPath: [any CodingKey]) -> String {
    guard !codingPath.isEmpty else { return "the record's value" }
    return codingPath.reduce(into: "") { text, key in
      if let index = key.intValue {
        text += "[\(index)]"
      } else {
        text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
      }
    }
  }
}
