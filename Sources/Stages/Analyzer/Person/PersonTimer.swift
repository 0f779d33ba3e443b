public import NudgeSchema
public import StreamRuntime

/// A timer of a person. Its name says which timer it is; the key of `timer.fired` is the person.
enum PersonTimer: Equatable {
  /// The raised badge must be pushed.
  case badge
  /// The wait of held messages of a conversation ends.
  case hold(conversationId: String)
  /// The person catches up.
  case catchUp
  /// A message must be pushed again or go to the webhook.
  case escalation
  /// A device has been inactive for too long.
  case device(id: String)

  /// The timer with a name; nil if the name is not one of this person's timers.
  init?(_ name: String, of userId: String) {
    /// The text after a prefix.
    func rest(after prefix: String) -> String? {
      name.utf8.starts(with: prefix.utf8)
        ? String(decoding: name.utf8.dropFirst(prefix.utf8.count), as: UTF8.self) : nil
    }
    if let timer = [Self.badge, .catchUp, .escalation].first(where: { sameId($0.name(of: userId), name) }) {
      self = timer
    } else if let id = rest(after: Self.hold(conversationId: "").name(of: userId)) {
      self = .hold(conversationId: id)
    } else if let id = rest(after: Self.device(id: "").name(of: userId)) {
      self = .device(id: id)
    } else {
      return nil
    }
  }

  /// The timer's name. It is the same in state and topics of all releases.
  func name(of userId: String) -> String {
    switch self {
    case .badge: "badge/\(userId)"
    case .hold(let conversationId): "hold/\(userId)/\(conversationId)"
    case .catchUp: "catchup/\(userId)"
    case .escalation: "escalate/\(userId)"
    case .device(let id): "device/\(userId)/\(id)"
    }
  }
}

extension AnalyzerStage {
  /// `timer.fired` on the timeline.
  public static func value(of timer: DueTimer, coder: RecordCoder) throws -> [UInt8] {
    try coder.encode(
      DerivedEvent(
        Envelope(eventId: timer.eventId, occurredAt: timer.due), origin: timer.origin, source: timer.source,
        TimelineEventBody.timerFired(TimerFired(timer: timer.name, dueAt: timer.due))))
  }
}
