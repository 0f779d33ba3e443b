import NudgeSchema

/// Why a message is decided now.
enum Occasion {
  /// The message arrived.
  case arrival
  /// Its wait has ended.
  case held(Held)
  /// A replay asks for a decision.
  case replay(ReplayBudget, Resend?)

  /// The facts that a final decision takes from the deferred one.
  struct Held {
    /// When the message was deferred, by the wall clock.
    var at: Milliseconds
    /// The use of the hourly limit at that time; absent if it was not checked.
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
  /// The conversation's row before this message changed it.
  let conversationBefore: PersonConversationRow
  /// The shifts from the person's feedback.
  let learned: LearnedPreferences
  /// Reads further rows for decisions that need them. Nothing is written before the decision is made.
  let rows: PersonRows
}

/// A hold that has ended, with its row. A class, because the row is large and most messages have none.
final class EndedHold {
  let hold: Hold
  let row: HeldMessageRow

  init(_ hold: Hold, _ row: HeldMessageRow) {
    self.hold = hold
    self.row = row
  }
}

/// A message for one person, with everything that its decision depends on. A class, because it is passed on several
/// times per decision, and each copy of a struct would retain and release every reference in the rows.
final class Case {
  let message: CandidateMessage
  let context: RecipientContext
  let occasion: Occasion
  let person: PersonSnapshot
  let place: MessagePlace
  /// Whether the person has already read the message.
  let isRead: Bool
  /// The hold of the message, which has ended; nil if the message was not held.
  let ended: EndedHold?
  /// Whether a catch-up has the message, or has shown it, in place of a push. Set only for replays.
  var isLeftToCatchUp = false
  /// Until when the message is held, by the wall clock, because a read that came before it may cover it; nil if no read
  /// may.
  var waitsForRead: Milliseconds?
  /// Whether the person or the conversation was deleted after the message was written.
  var isErased = false
  /// When the record that caused the decision reached Nudge. For an arrival that record is the message.
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

  /// The failed push that the replay sends again; nil if there is none.
  var resend: Resend? {
    if case .replay(_, let resend) = occasion { resend } else { nil }
  }

  /// The facts of the deferred decision; nil if there was none.
  var held: Occasion.Held? {
    if case .held(let held) = occasion { held } else { nil }
  }

  var conversationId: String { message.candidate.conversationId }

  /// Why the message gets another push; nil if this is its first.
  var anew: PushCause.Anew? {
    if let resend { return .failed(pushId: resend.push.pushId) }
    return replay.flatMap { $0.isForced ? .forced(replayId: $0.replayId) : nil }
  }

  /// When the message becomes too old to notify.
  var expiresAt: Milliseconds { message.sentAt + max(rules.policy.freshness, replay?.maxAge ?? 0) }

  /// When reports of the person's devices must hold: when the message reaches Nudge. A replay asks as of when it was
  /// written.
  var activityAt: Milliseconds { if case .arrival = occasion { arrivedAt } else { message.sentAt } }

  /// The newest report that holds, of a device that has the conversation open. For an urgent message it holds only with
  /// a sign of a person shortly before.
  var claim: DeviceActivity? {
    let horizon = rules.activityHorizon
    let claim = person.user.activity(showing: conversationId, at: activityAt, horizon: horizon)
    guard claim != nil, message.isUrgent else { return claim }
    return person.user.activity(showing: conversationId, at: activityAt, horizon: horizon.ofUrgent)
  }

  /// As `claim`. Nil if the message has just arrived and no further message can be held.
  var open: DeviceActivity? {
    if case .arrival = occasion, person.conversation.isFull { return nil }
    return claim
  }

  var isOpen: Bool { open != nil }

  /// Whether the app is open and shows the message as a banner, if the decision has this reason (D9).
  func showsBanner(_ reason: DecisionReason) -> Bool {
    guard let time = bannerAt, reason.allowsBanner, !sameId(message.candidate.sender.userId, person.userId) else {
      return false
    }
    return person.user.isInApp(at: time, horizon: rules.activityHorizon)
  }

  /// The time at which the app must be open to show a banner. Nil if there is no banner: it was shown when the message
  /// arrived, or a replay asks for the decision.
  private var bannerAt: Milliseconds? {
    switch occasion {
    case .arrival: activityAt
    case .held: ended?.hold.kind == .alert ? nil : now
    case .replay: nil
    }
  }
}
