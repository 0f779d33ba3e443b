import NudgeSchema
import Wording

/// What happens to a message for one person, and why.
struct Ruling {
  var verdict: Verdict
  /// How the message appears; nil if it does not appear, or not yet.
  var presentation: Presentation?
  /// Why its final decision or its place on the badge waits, and until when; nil if it does not wait.
  var hold: Hold?
  var trail: Trail
  /// The devices that receive a push now.
  var targets: [PushTarget] = []
  /// Whether devices were found that have been inactive for too long. They are dropped.
  var dropsDevices = false
  /// The locale of the device seen last that has one. Absent if the devices were not read.
  var deviceLocale: String??
  /// What it spends; nil for a replay, which spends nothing.
  var spend: Spend?
  /// The conversation's last alert after this message.
  var burst: Burst?
  /// The message's entry in the person's catch-up while it is unread; nil if it has none.
  var missed: Missed?
  /// The notice that the hourly analyses are used up.
  var notice: Notice?
  /// Whether the push is made again unless it arrives or is read.
  var escalates = false

  /// The allowances that it spends.
  struct Spend {
    /// The hourly analyses; nil if none was used or refused.
    var window: AnalysisWindow?
    /// The window whose limit is announced to the person; nil without a notice.
    var noticedWindow: Milliseconds?
    /// The alerts of the day; nil if none was spent.
    var alerts: SpentAlerts?
  }
}

extension Ruling {
  /// Whether the message appears in the notification centre now.
  var isShown: Bool { presentation == .alert || presentation == .silent }

  /// Whether its alert waits for some seconds.
  var isHeldAlert: Bool { hold?.kind == .alert }

  /// The latest time of the final decision; nil if this is the final one.
  var heldUntil: Milliseconds? { hold.flatMap { $0.kind == .badge ? nil : $0.due } }

  /// The verdict that the decision contains.
  var concluded: Verdict {
    isHeldAlert ? Verdict(reason: .activeElsewhere, explanation: Explanation(.activeElsewhere)) : verdict
  }
}

extension Ruling {
  /// Why the message does not alert. Nil if it does or still may, if the person is looking at it, or if it does not
  /// count.
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
  /// The reason as a sentence.
  var explanation: Explanation
}

/// The checks of one message for one person, and their results. The first check that suppresses decides.
struct Trail {
  /// Checks with inputs, in order. `CheckOrder` knows the others.
  private(set) var checks: [Check] = []
  /// How much the message matters; nil if the checks ended earlier.
  var assessment: Assessment?
  /// The person's level for the conversation; nil if the checks ended earlier.
  var level: AppliedLevel?
  /// The hourly limit; nil if it was not checked.
  var analysis: AnalysisUse?
  /// The relevance model's version; nil if the model was not used.
  var model: String?
  /// The simple rules' version; nil if they did not decide.
  var rules: String?

  /// Whether the person's budget had no alert left for the message.
  private(set) var isOverBudget = false

  init() { checks.reserveCapacity(4) }

  /// A check let the message pass without inputs. The order of checks implies that it was made.
  func pass(_ reason: DecisionReason) -> Verdict? { nil }

  /// Records a check that let the message pass, with its inputs.
  mutating func pass(_ reason: DecisionReason, _ inputs: CheckInputs) -> Verdict? {
    checks.append(Check(check: reason.rawValue, inputs: inputs))
    return nil
  }

  /// Records the check that decides.
  mutating func suppress(_ reason: DecisionReason, _ why: ReasonCode) -> Verdict? {
    suppress(reason, [:], Explanation(why))
  }

  /// Records the check that decides, with inputs if they add something.
  mutating func suppress(_ reason: DecisionReason, _ inputs: CheckInputs, _ explanation: Explanation) -> Verdict? {
    checks.append(Check(check: reason.rawValue, result: .suppress, inputs: inputs))
    return Verdict(reason: reason, explanation: explanation)
  }

  /// Whether an alert was held back.
  var hasBurst: Bool { checks.contains { $0.check == "burst" } }

  /// Records that no push is made because it would only repeat the badge.
  mutating func recordUnchanged(badge: Int) {
    checks.append(Check(check: "badge", inputs: ["told": .number(Int64(badge))]))
  }

  /// Records that an alert waits because the person may be about to read the message on a device.
  mutating func recordWait(for device: DeviceActivity) {
    checks.append(
      Check(
        check: DecisionReason.activeElsewhere.rawValue, result: .suppress,
        inputs: ["deviceId": .text(device.deviceId), "reportedAt": .number(device.stamp.occurredAt)]))
  }

  /// Records that pushes wait because devices may show the message through their streams.
  mutating func recordAnswers(from devices: Int, until due: Milliseconds) {
    checks.append(Check(check: "live", inputs: ["devices": .number(Int64(devices)), "waitsUntil": .number(due)]))
  }

  /// Records that the message waits for the person's catch-up.
  mutating func recordCatchUp(_ due: Milliseconds) {
    checks.append(Check(check: "catch_up", inputs: ["dueAt": .number(due)]))
  }

  /// Records that the message is pushed again unless it arrives or is read.
  mutating func recordEscalation(_ due: Milliseconds) {
    checks.append(Check(check: "escalation", inputs: ["dueAt": .number(due)]))
  }

  /// Records that an alert was held back.
  mutating func record(_ burst: Burst) {
    checks.append(
      Check(
        check: "burst", inputs: ["alertedAt": .number(burst.alertedAt), "heldBack": .number(Int64(burst.heldBack))]))
  }

  /// Records the budget's answer to an alert.
  mutating func record(_ answer: BudgetAnswer) {
    isOverBudget = !answer.allows
    var inputs: CheckInputs = [
      "used": .number(Int64(answer.used)), "limit": .number(Int64(answer.limit)), "value": .number(Int64(answer.value)),
      "silent": .flag(!answer.allows),
    ]
    inputs["threshold"] = answer.threshold.map { .number(Int64($0)) }
    checks.append(Check(check: "budget", inputs: inputs))
  }

  /// Records the priority. The decision explains it in separate fields.
  mutating func record(_ assessment: Assessment) { self.assessment = assessment }
}

/// Why a decision was made, in one sentence in the person's language (D10): the two or three strongest signals, or the
/// check that suppressed.
///
/// It is an object, because it is passed from check to check and has many values.
final class Explanation: Sendable {
  /// The most signals in a sentence.
  static let maxReasons = 3
  /// A signal weaker than this share of the strongest one is left out.
  private static let smallestShare = 0.25

  /// The reasons in the order of the sentence.
  let reasons: [ReasonCode]
  /// The sentences around them, the innermost first. Without frames, the reasons are the sentence.
  private let frames: [ReasonCode]
  private let values: ReasonValues

  private init(_ reasons: [ReasonCode], _ frames: [ReasonCode], _ values: ReasonValues) {
    self.reasons = reasons
    self.frames = frames
    self.values = values
  }

  /// One reason, with the values of its placeholders.
  convenience init(_ reason: ReasonCode, _ values: ReasonValues = ReasonValues()) { self.init([reason], [], values) }

  /// Several reasons, as one enumeration.
  ///
  /// - Parameter sender: The sender's displayed name.
  convenience init(_ reasons: [ReasonCode], sender: String) {
    var values = ReasonValues()
    values.sender = sender
    self.init(reasons, [], values)
  }

  /// How much a message matters.
  ///
  /// - Parameter sender: The sender's displayed name.
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
    // Signals for a message explain that it is shown, signals against it that it is not. `direct` always counts for it,
    // because its weight is the initial score.
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

  /// The explanation if the hourly limit is reached and the simple rules decide.
  func pastLimit(of limit: Int) -> Explanation {
    var values = values
    values.limit = String(limit)
    return Explanation(reasons, frames + [.limitReached], values)
  }

  /// The explanation inside another sentence.
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

  /// For each signal, the reason for and the reason against the message being meant for the person; nil if there is
  /// none.
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
