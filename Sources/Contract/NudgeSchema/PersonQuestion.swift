// A question to the pipeline and its answer (decision 185): what GET /v1/me asks.

/// `person.asked`: somebody asks what is known of the person. It goes the way of the person's events, so the answer knows all that came before
/// it. On `user.events` it has the header `RecordHeader.question`.
public struct PersonAsked: EventBody, Codable {
  /// A question that is older is not answered: whoever asked has gone. In milliseconds.
  public static let lifetime: Milliseconds = 60_000

  /// A device that has just registered or signed out. It reaches the timeline by way of the claims, and may come after the question.
  public struct Device: Codable, Sendable, Equatable {
    /// The device.
    public var deviceId: String
    /// The place of its event in last-writer-wins order.
    public var stamp: EventStamp
    /// Whether it registered; else it signed out.
    public var isRegistered: Bool

    /// A device and its last event.
    public init(deviceId: String, stamp: EventStamp, isRegistered: Bool) {
      self.deviceId = deviceId
      self.stamp = stamp
      self.isRegistered = isRegistered
    }
  }

  /// The person.
  public var userId: String
  /// The device that changed last, where that was lately.
  public var device: Device?

  /// The event's fields.
  public init(userId: String, device: Device? = nil) {
    self.userId = userId
    self.device = device
  }

  /// The types of this body, by their names on the wire.
  public static let types: [EventType] = [.personAsked]
  /// The type's name on the wire.
  public var type: EventType { .personAsked }
  /// Reads the fields. Throws `DecodingError` where one is missing.
  public init(type: EventType, from decoder: any Decoder) throws { try self.init(from: decoder) }
  /// Writes the fields beside the envelope's.
  public func encodeFields(to encoder: any Encoder) throws { try encode(to: encoder) }
}

/// `person.answered`: what is known of a person.
public struct PersonAnswered: Codable, Sendable, Equatable {
  /// The person.
  public var userId: String
  /// The id of the question.
  public var questionId: String
  /// The person as `GET /v1/users/{id}` answers, as JSON; nil: nothing is known of them, or they were deleted.
  public var person: String?
  /// Whether the question's device is not known yet as it is.
  public var isBehind: Bool

  /// The event's fields.
  public init(userId: String, questionId: String, person: String?, isBehind: Bool) {
    self.userId = userId
    self.questionId = questionId
    self.person = person
    self.isBehind = isBehind
  }
}
