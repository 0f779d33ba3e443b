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

    /// As a label of metrics.
    var label: String {
      switch self {
      case .refused: "refused"
      case .quota: "quota"
      case .invalidTokens: "invalid_tokens"
      }
    }
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
  /// The first request that can tell something new: only answers to this one and later ones end the pause. What was in
  /// the air when it began says how things were before.
  var firstTelling: UInt64
  /// The breaker over invalid tokens is open: no answer that calls a token invalid is believed, and one good answer is
  /// not enough to close it. Kept beside the reason, which a quota or a refusal may become meanwhile.
  var tokenTrial: TokenTrial?
}

/// What the tries of an open breaker said of tokens. They go on one after the other as long as they may still close it.
struct TokenTrial: Sendable, Equatable {
  var good = 0
  var invalid = 0

  enum Result: Equatable {
    /// More tries are needed.
    case open
    /// Tokens are believed again.
    case passed
    /// Too many were called invalid: wait, then begin anew.
    case failed
  }

  /// Half of the share that trips the breaker is allowed: a share that hovers around the limit must not close and trip it
  /// in turns, each turn at the price of a window of tokens.
  func result(of length: Int, ratio: Double) -> Result {
    let allowed = Int(Double(length) * ratio / 2)
    if invalid > allowed { return .failed }
    return good + invalid >= length ? .passed : .open
  }
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
