import NudgeSchema

/// What a pause holds back.
struct PauseScope: Hashable, Comparable, Sendable {
  /// nil: the dispatcher's own project.
  var projectId: String?
  /// nil: the whole project.
  var platform: Platform?

  static func < (a: PauseScope, b: PauseScope) -> Bool {
    (a.projectId ?? "", a.platform?.rawValue ?? "") < (b.projectId ?? "", b.platform?.rawValue ?? "")
  }

  /// The scopes a device is in.
  static func of(_ target: PushTarget) -> [PauseScope] {
    [PauseScope(projectId: target.projectId), PauseScope(projectId: target.projectId, platform: target.platform)]
  }
}

/// Nothing of a project, or of one of its platforms, is sent (P6), but for one request now and then that finds out
/// whether it works again: the next in line, so that nothing is sent that was not to be sent.
struct Pause: Sendable {
  /// Why.
  enum Reason: Sendable, Equatable {
    /// Credentials, project or address are wrong.
    case refused
    /// The project's quota is used up.
    case quota
    /// So many tokens were called invalid that the fault is hardly theirs (T3).
    case invalidTokens
  }
  var reason: Reason
  /// The last answer's code, for people.
  var errorCode: String?
  /// When it began.
  var since: Milliseconds
  /// When the next try is due.
  var probeAt: Milliseconds
  /// How long after a vain try the next one is.
  var interval: Milliseconds
  /// The try that is in the air.
  var probe: UInt64?
}

/// The last answers of a project, as far as they say whether a token was good.
struct TokenVerdicts: Sendable {
  private var ring: [Bool] = []
  private var next = 0
  private(set) var invalid = 0
  let window: Int

  init(window: Int) { self.window = max(window, 1) }

  /// Whether the window is full.
  var isFull: Bool { ring.count == window }

  mutating func record(invalid isInvalid: Bool) {
    if ring.count < window {
      ring.append(isInvalid)
    } else {
      if ring[next] { invalid -= 1 }
      ring[next] = isInvalid
      next = (next + 1) % window
    }
    if isInvalid { invalid += 1 }
  }
}
