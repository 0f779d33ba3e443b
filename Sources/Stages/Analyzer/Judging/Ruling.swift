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
