/// Why a record could not be processed. The raw values are the catalogue's codes.
public enum DeadLetterCode: String, NamedValue {
  /// Not JSON.
  case invalidJSON = "invalid_json"
  /// Not UTF-8.
  case invalidUTF8 = "invalid_utf8"
  /// JSON that breaks the schema.
  case schemaViolation = "schema_violation"
  /// A schema version that this release does not know.
  case unsupportedVersion = "unsupported_version"
  /// A type that does not belong on this topic.
  case unknownType = "unknown_type"
  /// Larger than a limit.
  case tooLarge = "too_large"
  /// No key.
  case missingKey = "missing_key"
  /// The key differs from the id in the value.
  case keyMismatch = "key_mismatch"
  /// Older than the limit for events.
  case tooOld = "too_old"
  /// Further in the future than clocks may differ.
  case fromTheFuture = "from_the_future"
  /// The sender is not a member of the conversation (M2).
  case senderNotMember = "sender_not_member"
  /// The conversation is not known.
  case unknownConversation = "unknown_conversation"
  /// The person was deleted and has not registered again (D16).
  case userDeleted = "user_deleted"
  /// The event id was used by another event, of another type or sender (M6).
  case eventIdReused = "event_id_reused"
  /// The message id was used for another sender's message in the conversation.
  case messageIdReused = "message_id_reused"
  /// The push service refused the request itself.
  case fcmRejected = "fcm_rejected"
  /// A defect in Nudge.
  case `internal`
}

/// Why a record is refused. The record goes to the dead letters with this reason, and the partition continues.
public struct Rejection: Error, Equatable, Sendable, CustomStringConvertible {
  /// The reason for machines.
  public var code: DeadLetterCode
  /// The reason for people: names the field and the limit, never a token or a message's text (T4).
  public var message: String
  /// Whether a later release may accept the record, because this one does not know its schema version, its type or the
  /// value of an enumeration. On a topic that only Nudge writes, such a record stops the stage
  /// (`Topic.isWrittenByNudgeOnly`).
  public var mayBeOfLaterRelease: Bool

  /// Refuses a record.
  /// - Parameters:
  ///   - code: The reason for machines.
  ///   - message: The reason for people, without tokens and texts of messages.
  ///   - isUnknownValue: Whether a field has the right type but a value that this release does not know.
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
  /// The fields of an event that ingest ignored (`IgnoredFields`), on the records that ingest wrote for the event.
  public static let ignored = "nudge-ignored"
  /// The kind of the event's sender: `user` if the person published it over HTTP with their own token, absent for a
  /// backend. A dead letter keeps it.
  public static let caller = "nudge-caller"
  /// The value of `caller` for a person's own token.
  public static let user = "user"
  /// `timer.fired`: the timer's due time in milliseconds since the epoch, a space, and its name. Only the runtime writes
  /// it.
  public static let timer = "nudge-timer"
  /// The process that passes an effect's reply to the task's current owner in this record. Only the runtime reads and
  /// writes it.
  public static let handover = "nudge-handover"
  /// Marks a record of `user.events` as a question of the HTTP API (`PersonAsked`) instead of a producer's event.
  public static let question = "nudge-question"
  /// On a record without a value: the level that an operator has finalised. `nudge upgrade finalize` writes it, the
  /// runtime reads it.
  public static let level = "nudge-level"
  /// Dead letters: `DeadLetterCode`.
  public static let errorCode = "nudge-error-code"
  /// Dead letters: the reason for people.
  public static let errorMessage = "nudge-error-message"
  /// Dead letters: the stage that refused the record.
  public static let errorStage = "nudge-error-stage"
  /// Dead letters: the topic of the refused record.
  public static let originTopic = "nudge-origin-topic"
  /// Dead letters: its partition.
  public static let originPartition = "nudge-origin-partition"
  /// Dead letters: its offset.
  public static let originOffset = "nudge-origin-offset"
  /// Dead letters whose key was cut because the record would exceed the topic's limit: bytes kept, a slash, bytes in
  /// the original. The original record is unchanged.
  public static let truncatedKey = "nudge-truncated-key"
  /// Dead letters that lack some headers: headers kept, a slash, headers in the original.
  public static let truncatedHeaders = "nudge-truncated-headers"
  /// Dead letters whose value was cut: bytes kept, a slash, bytes in the original.
  public static let truncatedValue = "nudge-truncated-value"
  /// Dead letters: the record's own timestamp, in milliseconds.
  public static let originTimestamp = "nudge-origin-timestamp"

  /// The headers of Kafka Streams' dead letters (KIP-1034). A dead letter has them beside Nudge's own, for tools that
  /// read them. There is no stack trace.
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

  /// The rejection of a record that cannot be decoded. It names the field, never the value, which the decoder's own
  /// text may quote (T4).
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
          "\(Self.path(context.codingPath)) is not one of the allowed values: \(name.known.joined(separator: ", "))",
          isUnknownValue: true)
      } else if context.codingPath.isEmpty || context.underlyingError != nil {
        // JSON that cannot be parsed has no path or an underlying error. A value of the right type that its type refuses
        // has a path and no underlying error.
        self.init(.invalidJSON, "the record's value is not JSON")
      } else {
        self.init(
          .schemaViolation, "\(Self.path(context.codingPath)) is not one of the allowed values", isUnknownValue: true)
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
