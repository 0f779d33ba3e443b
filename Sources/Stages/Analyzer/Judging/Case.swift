import NudgeSchema

/// Why a message is decided now.
enum Occasion {
  /// The message arrived.
  case arrival
  /// Its wait has ended.
  case held(Held)
  /// A replay asks for a decision.
  case replay(ReplayBudget, Resend?)

  /// What a final decision takes over from the deferred one.
  struct Held {
    /// When the message was deferred, by the wall clock.
    var at: Milliseconds
    /// The hourly limit at that time.
    var analysis: AnalysisUse?
    /// The devices that received its alert at that time.
    var pushedTo: [String]

    init(_ row: HeldMessageRow) { (at, analysis, pushedTo) = (row.heldAt, row.analysis, row.pushedTo) }
  }
}

/// A person's state before the message.
struct PersonSnapshot {
  let userId: String
  let user: UserRow
  let preferences: EffectivePreferences
  let conversation: PersonConversationRow
  /// The conversation's row, without the changes of the case itself.
  let conversationBefore: PersonConversationRow
  /// The shifts from the person's feedback.
  let learned: LearnedPreferences
  /// Rows that only some decisions read. Nothing is written before the decision is made.
  let rows: PersonRows
}

/// A hold that has ended, with its row. It is an object, because most messages were not held and the row is large.
final class EndedHold {
  let hold: Hold
  let row: HeldMessageRow

  init(_ hold: Hold, _ row: HeldMessageRow) {
    self.hold = hold
    self.row = row
  }
}

/// A message for one person, with everything that its decision depends on. It is an object: a case is passed on several
/// times per decision, and each copy of a struct would count the references of everything in the rows.
final class Case {
  let message: CandidateMessage
  let context: RecipientContext
  let occasion: Occasion
  let person: PersonSnapshot
  let place: MessagePlace
  /// Whether the person has already read the message.
  let isRead: Bool
  /// The hold that has ended, with its row; nil if the message was not held.
  let ended: EndedHold?
  /// Whether a catch-up contains the message, or has shown it, instead of its push. Set only for replays.
  var isLeftToCatchUp = false
  /// How long the message waits because an earlier read may cover it; nil if none does.
  var waitsForRead: Milliseconds?
  /// Whether the person or the conversation was deleted after the message was written.
  var isErased = false
  /// When the message reached Nudge. Set only for arrivals.
  var arrivedAt: Milliseconds = 0
  /// The rules, including the policy in force.
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
  /// The replay that asks for the decision; nil if none does.
  var replay: ReplayBudget? {
    if case .replay(let replay, _) = occasion { replay } else { nil }
  }

  /// The failed push that the decision should repeat; nil if there is none.
  var resend: Resend? {
    if case .replay(_, let resend) = occasion { resend } else { nil }
  }

  /// The earlier, deferred decision; nil if there was none.
  var held: Occasion.Held? {
    if case .held(let held) = occasion { held } else { nil }
  }

  var conversationId: String { message.candidate.conversationId }

  /// Why the message gets another push; nil for its first push.
  var anew: PushCause.Anew? {
    if let resend { return .failed(pushId: resend.push.pushId) }
    return replay.flatMap { $0.isForced ? .forced(replayId: $0.replayId) : nil }
  }

  /// When the message becomes too old to notify.
  var expiresAt: Milliseconds { message.sentAt + max(rules.policy.freshness, replay?.maxAge ?? 0) }

  /// The device that reported its conversation as open shortly before the message, provided that another message can be
  /// held; nil otherwise.
  var open: DeviceActivity? {
    if case .arrival = occasion, person.conversation.isFull { return nil }
    return person.user.activity(showing: conversationId, at: message.sentAt, horizon: rules.activityHorizon)
  }

  var isOpen: Bool { open != nil }

  /// Whether a message with this decision is shown inside the app now, because the app is open (D9).
  func showsBanner(_ reason: DecisionReason) -> Bool {
    guard let time = bannerAt, reason.allowsBanner, !sameId(message.candidate.sender.userId, person.userId) else {
      return false
    }
    return person.user.isInApp(at: time, horizon: rules.activityHorizon)
  }

  /// The time at which the app must be open for a banner. Nil if there is no banner, because it was shown when the
  /// message arrived or because a replay asks.
  private var bannerAt: Milliseconds? {
    switch occasion {
    case .arrival: message.sentAt
    case .held: ended?.hold.kind == .alert ? nil : now
    case .replay: nil
    }
  }
}
