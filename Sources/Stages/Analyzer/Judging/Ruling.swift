import NudgeSchema
import Wording

/// The fate of a message for one person, and its reasons.
struct Ruling {
  var verdict: Verdict
  /// How the message appears; nil: it does not, or not yet.
  var presentation: Presentation?
  /// Why its final decision, or its place on the badge, waits, and until when; nil: it does not wait.
  var hold: Hold?
  var trail: Trail
  /// The devices that a push goes to now.
  var targets: [PushTarget] = []
  /// Devices not heard of for too long were found on the way: they are dropped.
  var dropsDevices = false
  /// The locale of the device heard of last, where one has any; absent where the devices were not looked at.
  var deviceLocale: String??
  /// nil: nothing can be spent, because a replay asks.
  var spend: Spend?
  /// The conversation's last alert after this message.
  var burst: Burst?
  /// How the message stands in the person's catch-up, while it is unread; nil: it is not in one.
  var missed: Missed?
  /// The notice that the hourly analyses are used up.
  var notice: Notice?
  /// Unless it arrives or is read, the push is made once more.
  var escalates = false

  /// The allowances that it uses up.
  struct Spend {
    /// The hourly analyses; nil: none was used or refused.
    var window: AnalysisWindow?
    /// The window whose limit the person learns about; nil if there is no notice.
    var noticedWindow: Milliseconds?
    /// The alerts of the day; nil: none was spent.
    var alerts: SpentAlerts?
  }
}

extension Ruling {
  /// A message appears in the notification centre now.
  var isShown: Bool { presentation == .alert || presentation == .silent }

  /// Its alert waits for some seconds.
  var isHeldAlert: Bool { hold?.kind == .alert }

  /// When the final decision is made at the latest; nil: this is the final one.
  var heldUntil: Milliseconds? { hold.flatMap { $0.kind == .badge ? nil : $0.due } }

  /// The verdict as the decision gives it.
  var concluded: Verdict {
    isHeldAlert ? Verdict(reason: .activeElsewhere, explanation: Explanation(.activeElsewhere)) : verdict
  }
}

extension Ruling {
  /// Why the message does not alert; nil: it does, or may yet, or the person has it before their eyes, or it does not count.
  var heldBack: HeldBackReason? {
    switch verdict.reason {
    case .notificationsDisabled: .disabled
    case .conversationMuted: .muted
    case .mutedSender: .mutedSender
    case .level: .level
    case .quietHours: .quietHours
    case .analysisLimit: .analysisLimit
    case .expired: .expired
    case .history: .history
    case .noDevice: .noDevice
    case .relevant, .simpleRules, .notifyAll:
      switch presentation {
      case .alert, nil: nil
      case .silent: trail.isOverBudget ? .budget : trail.hasBurst ? .burst : .mediumPriority
      case .badge: .lowPriority
      }
    case .duplicate, .alreadyRead, .activeConversation, .activeElsewhere, .withdrawn, .replayStopped, .replayLimit: nil
    }
  }
}

/// The result of the checks.
struct Verdict {
  var reason: DecisionReason
  /// The reason in words.
  var explanation: Explanation
}

/// The checks of one message for one person, and what they found on the way. The first that suppresses decides.
struct Trail {
  /// Those that say something, in order: `CheckOrder` knows the others.
  private(set) var checks: [Check] = []
  /// How much the message matters; nil: the checks ended before.
  var assessment: Assessment?
  /// The person's level for the conversation; nil: it was not asked.
  var level: AppliedLevel?
  /// The hourly limit; nil: it was not asked.
  var analysis: AnalysisUse?
  /// The relevance model's version; nil: it was not asked.
  var model: String?
  /// The simple rules' version; nil: they did not decide.
  var rules: String?

  /// Whether the person's budget had no alert for the message.
  private(set) var isOverBudget = false

  init() { checks.reserveCapacity(4) }

  /// A check let the message pass, and looked at nothing that says more: its place in the order says that it was made.
  func pass(_ reason: DecisionReason) -> Verdict? { nil }

  /// Records a check that let the message pass, with what it looked at.
  mutating func pass(_ reason: DecisionReason, _ inputs: CheckInputs) -> Verdict? {
    checks.append(Check(check: reason.rawValue, inputs: inputs))
    return nil
  }

  /// Records the check that decides.
  mutating func suppress(_ reason: DecisionReason, _ why: ReasonCode) -> Verdict? {
    suppress(reason, [:], Explanation(why))
  }

  /// Records the check that decides, with what it looked at where that says more.
  mutating func suppress(_ reason: DecisionReason, _ inputs: CheckInputs, _ explanation: Explanation) -> Verdict? {
    checks.append(Check(check: reason.rawValue, result: .suppress, inputs: inputs))
    return Verdict(reason: reason, explanation: explanation)
  }

  /// Whether an alert was held back.
  var hasBurst: Bool { checks.contains { $0.check == "burst" } }

  /// Records that no push is made because it would only repeat a badge that was told before.
  mutating func recordUnchanged(badge: Int) {
    checks.append(Check(check: "badge", inputs: ["told": .number(Int64(badge))]))
  }

  /// Records that an alert waits, because the person may be about to read the message on a device.
  mutating func recordWait(for device: DeviceActivity) {
    checks.append(
      Check(
        check: DecisionReason.activeElsewhere.rawValue, result: .suppress,
        inputs: ["deviceId": .text(device.deviceId), "reportedAt": .number(device.stamp.occurredAt)]))
  }

  /// Records that pushes wait, because devices may show the message by their streams.
  mutating func recordAnswers(from devices: Int, until due: Milliseconds) {
    checks.append(Check(check: "live", inputs: ["devices": .number(Int64(devices)), "waitsUntil": .number(due)]))
  }

  /// Records that the message waits for the person's catch-up.
  mutating func recordCatchUp(_ due: Milliseconds) {
    checks.append(Check(check: "catch_up", inputs: ["dueAt": .number(due)]))
  }

  /// Records that the message is pushed again unless it arrives or is read before.
  mutating func recordEscalation(_ due: Milliseconds) {
    checks.append(Check(check: "escalation", inputs: ["dueAt": .number(due)]))
  }

  /// Records that an alert was held back.
  mutating func record(_ burst: Burst) {
    checks.append(
      Check(
        check: "burst", inputs: ["alertedAt": .number(burst.alertedAt), "heldBack": .number(Int64(burst.heldBack))]))
  }

  /// Records what the person's budget said to an alert.
  mutating func record(_ answer: BudgetAnswer) {
    isOverBudget = !answer.allows
    var inputs: CheckInputs = [
      "used": .number(Int64(answer.used)), "limit": .number(Int64(answer.limit)), "value": .number(Int64(answer.value)),
      "silent": .flag(!answer.allows),
    ]
    inputs["threshold"] = answer.threshold.map { .number(Int64($0)) }
    checks.append(Check(check: "budget", inputs: inputs))
  }

  /// Records that the priority was asked. How it came about the decision says in fields of its own.
  mutating func record(_ assessment: Assessment) { self.assessment = assessment }
}

/// Why a decision is as it is, in one sentence for the person, in their language (D10): the two or three signals that
/// mattered most, or the check that suppressed.
///
/// An object: it goes from check to check, and a sentence has places for many values.
final class Explanation: Sendable {
  /// Signals a sentence has at most.
  static let maxReasons = 3
  /// A signal that added less than this part of the strongest one goes unsaid.
  private static let smallestShare = 0.25

  /// The reasons, in the order in which the sentence gives them.
  let reasons: [ReasonCode]
  /// The sentences they stand in, the inner one first; none: they are the sentence.
  private let frames: [ReasonCode]
  private let values: ReasonValues

  private init(_ reasons: [ReasonCode], _ frames: [ReasonCode], _ values: ReasonValues) {
    self.reasons = reasons
    self.frames = frames
    self.values = values
  }

  /// One reason, with what its words have places for.
  convenience init(_ reason: ReasonCode, _ values: ReasonValues = ReasonValues()) { self.init([reason], [], values) }

  /// Several reasons, as one enumeration.
  ///
  /// - Parameter sender: The name shown for who wrote the message.
  convenience init(_ reasons: [ReasonCode], sender: String) {
    var values = ReasonValues()
    values.sender = sender
    self.init(reasons, [], values)
  }

  /// How much a message matters.
  ///
  /// - Parameter sender: The name shown for who wrote the message.
  convenience init(_ assessment: Assessment, sender: String) {
    let isLow = assessment.priority == .low
    let frame: ReasonCode =
      switch assessment.priority {
      case .high: .highPriority
      case .medium: .mediumPriority
      case .low: .lowPriority
      }
    var values = ReasonValues()
    values.sender = sender
    // Signals for a message explain that it is shown, signals against it that it is not. `direct` is always for it: its
    // weight is where the score begins.
    var reasons = Array((assessment.reasons ?? []).prefix(Self.maxReasons))
    var smallest = 0.0
    for signal in assessment.reasons == nil ? assessment.signals : [] {
      let speaksFor = signal.weight >= 0 || signal.name == "direct"
      guard speaksFor != isLow, let (yes, no) = Self.words[signal.name], let code = speaksFor ? yes : no else {
        continue
      }
      if reasons.isEmpty { smallest = abs(signal.weight) * Self.smallestShare }
      guard reasons.count < Self.maxReasons, abs(signal.weight) >= smallest else { break }
      reasons.append(code)
    }
    if reasons.isEmpty { reasons.append(isLow ? .nothingForYou : .allInAll) }
    self.init(reasons, [frame], values)
  }

  /// The same, where the hourly limit is reached and simple rules decide.
  func pastLimit(of limit: Int) -> Explanation {
    var values = values
    values.limit = String(limit)
    return Explanation(reasons, frames + [.limitReached], values)
  }

  /// The same inside another sentence.
  func framed(by frame: ReasonCode, dailyAlerts: Int? = nil) -> Explanation {
    var values = values
    if let dailyAlerts { values.dailyAlerts = String(dailyAlerts) }
    return Explanation(reasons, frames + [frame], values)
  }

  /// The sentence.
  func text(in words: Wording) -> String {
    var text = words.reasons.list(reasons, values)
    for frame in frames {
      var values = values
      values.reasons = text
      text = words.reasons.text(frame, values)
    }
    return text
  }

  /// The reason that each signal gives for the message being meant for the person, and against it; nil: none.
  private static let words: [String: (for: ReasonCode?, against: ReasonCode?)] = [
    "direct": (.direct, nil), "mentioned": (.mentioned, nil), "answered": (.answered, nil),
    "named": (.named, .notNamed), "named_newcomer": (.namedNewcomer, nil),
    "recency": (.wroteLately, .notWroteLately), "open_question": (.askedSomething, .askedNothing),
    "sender_partner": (.senderWritesToYou, .senderWritesToOthers), "exchange": (.talking, .notTalking),
    "others": (.noOtherAnswered, .talkingWithOthers), "topic": (.yourTopic, .notYourTopic),
    "text": (.readsLikeAnswer, .notLikeAnswer), "sender_turn": (.senderInTalk, .senderNotInTalk),
    "starred_sender": (.starredSender, nil), "keyword": (.keyword, nil), "urgent_words": (.urgentWords, nil),
    "question": (.question, nil), "learned_sender": (.senderMatters, .senderRarelyMatters),
    "learned_conversation": (.conversationMatters, .conversationRarelyMatters),
    "learned_person": (.likesToBeTold, .likesQuiet),
  ]
}
