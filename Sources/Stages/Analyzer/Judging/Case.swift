import NudgeSchema

/// The reason why a message is decided.
enum Occasion {
  /// It came.
  case arrival
  /// Its wait has ended.
  case held(Held)
  /// A replay asks for it.
  case replay(ReplayBudget, Resend?)

  /// The facts that a final decision takes over from the deferred one.
  struct Held {
    /// When the message was deferred, by the wall clock.
    var at: Milliseconds
    /// The hourly limit as it was then.
    var analysis: AnalysisUse?
    /// The devices that got its alert then.
    var pushedTo: [String]

    init(_ row: HeldMessageRow) { (at, analysis, pushedTo) = (row.heldAt, row.analysis, row.pushedTo) }
  }
}

/// A person as they were before the message.
struct PersonSnapshot {
  let userId: String
  let user: UserRow
  let preferences: EffectivePreferences
  let conversation: PersonConversationRow
  /// The conversation's row: without what the case itself has changed in it.
  let conversationBefore: PersonConversationRow
  /// The shifts that the person's feedback has made.
  let learned: LearnedPreferences
  /// Rows that only some decisions read. Nothing is written before the decision is made.
  let rows: PersonRows
}

/// A hold that has ended, with its row. An object: most messages were not held, and the row is large.
final class EndedHold {
  let hold: Hold
  let row: HeldMessageRow

  init(_ hold: Hold, _ row: HeldMessageRow) {
    self.hold = hold
    self.row = row
  }
}

/// A message for one person, with all that its decision depends on. An object: a case is handed on several times a decision, and each copy
/// of a structure would count the references of all that the rows hold.
final class Case {
  let message: CandidateMessage
  let context: RecipientContext
  let occasion: Occasion
  let person: PersonSnapshot
  let place: MessagePlace
  /// Whether the person has read the message already.
  let isRead: Bool
  /// The hold that has ended, with its row; nil: the message was not held.
  let ended: EndedHold?
  /// A catch-up has the message in place of its push, or told of it; asked for replays alone.
  var isLeftToCatchUp = false
  /// Until when the message waits, because a read that came before it may have reached it; nil: it does not.
  var waitsForRead: Milliseconds?
  /// The person, or the conversation, was deleted after the message was written.
  var isErased = false
  /// When the message reached Nudge; asked for arrivals alone.
  var arrivedAt: Milliseconds = 0
  /// The policy in force is part of them.
  let rules: AnalyzerRules
  let now: Milliseconds

  init(
    message: CandidateMessage, context: RecipientContext, occasion: Occasion, person: PersonSnapshot,
    place: MessagePlace, isRead: Bool, ended: EndedHold? = nil, rules: AnalyzerRules, now: Milliseconds
  ) {
    self.ended = ended
    self.message = message
    self.context = context
    self.occasion = occasion
    self.person = person
    self.place = place
    self.isRead = isRead
    self.rules = rules
    self.now = now
  }
}

extension Case {
  /// The replay that asks for the decision; nil: none does.
  var replay: ReplayBudget? {
    if case .replay(let replay, _) = occasion { replay } else { nil }
  }

  /// The failed push that the decision is to make again; nil: there is none.
  var resend: Resend? {
    if case .replay(_, let resend) = occasion { resend } else { nil }
  }

  /// The deferred decision before this one; nil: there was none.
  var held: Occasion.Held? {
    if case .held(let held) = occasion { held } else { nil }
  }

  var conversationId: String { message.candidate.conversationId }

  /// Why the message has another push; nil: it is its first.
  var anew: PushCause.Anew? {
    if let resend { return .failed(pushId: resend.push.pushId) }
    return replay.flatMap { $0.isForced ? .forced(replayId: $0.replayId) : nil }
  }

  /// When the message is too old to notify.
  var expiresAt: Milliseconds { message.sentAt + max(rules.policy.freshness, replay?.maxAge ?? 0) }

  /// The device that said, shortly before the message, that its conversation is open, and where another message can be held; nil: none did.
  var open: DeviceActivity? {
    if case .arrival = occasion, person.conversation.isFull { return nil }
    return person.user.activity(showing: conversationId, at: message.sentAt, horizon: rules.activityHorizon)
  }

  var isOpen: Bool { open != nil }

  /// Whether a message with this decision is shown inside the app now, because the person has it open (D9).
  func showsBanner(_ reason: DecisionReason) -> Bool {
    guard let time = bannerAt, reason.allowsBanner, !sameId(message.candidate.sender.userId, person.userId) else {
      return false
    }
    return person.user.isInApp(at: time, horizon: rules.activityHorizon)
  }

  /// The time at which the app must be open for a banner; nil: there is none, because it was shown when the message came, or a replay asks.
  private var bannerAt: Milliseconds? {
    switch occasion {
    case .arrival: message.sentAt
    case .held: ended?.hold.kind == .alert ? nil : now
    case .replay: nil
    }
  }
}
