import NudgeSchema
import Wording

/// The level of a message's conversation for one person, and its source (D14).
struct AppliedLevel: Equatable, Sendable {
  /// The source of a level. The raw values are inputs of the check `level`.
  enum Source: String {
    /// The person's level for this conversation.
    case conversation
    /// The person's default for direct conversations or groups.
    case preferences
    /// The operator's default for direct conversations or groups.
    case policy
  }
  var level: NotificationLevel
  var source: Source

  init(level: NotificationLevel, source: Source) {
    self.level = level
    self.source = source
  }

  /// The person's own default, or the operator's.
  init(_ own: NotificationLevel?, or policy: NotificationLevel) {
    self.init(level: own ?? policy, source: own == nil ? .policy : .preferences)
  }

  /// Why a message is shown, or not, in words. nil: the level alone does not say so.
  func reason(isGroup: Bool) -> ReasonCode? {
    switch (level, source) {
    case (.smart, _): nil
    case (.all, .conversation): .allHere
    case (.all, _): isGroup ? .allInGroups : .allDirect
    case (.mentions, .conversation): .mentionsHere
    case (.mentions, _): isGroup ? .mentionsInGroups : .mentionsDirect
    case (.none, .conversation): .noneHere
    case (.none, _): isGroup ? .noneInGroups : .noneDirect
    }
  }
}
