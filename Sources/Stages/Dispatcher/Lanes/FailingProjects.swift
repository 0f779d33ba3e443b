import NudgeSchema

/// The projects that give no judgement: FCM fails, or cannot be reached. Their lanes wait for longer and longer, each for itself. So that
/// they need not wait on when the project works again, one lane is tried every now and then, and the first judgement ends the waits of all.
/// Times are of the steady clock.
struct FailingProjects {
  /// From the last failure to a try: once to twice as long, so that tasks do not try all at once.
  static let interval: Milliseconds = 30_000
  /// So long a project fails before its recovery ends waits. A failure now and then leaves the others to their own waits.
  static let threshold: Milliseconds = 10_000
  /// What is tried again after a recovery leaves within this time.
  static let spread: Milliseconds = 5_000

  private struct Failing {
    var since: Milliseconds
    var tryAt: Milliseconds
  }

  private var failing: [DeliveryScope: Failing] = [:]

  /// The next try of any project; nil: none fails.
  var nextTry: Milliseconds? { failing.values.map(\.tryAt).min() }

  /// Learns from an answer. The first judgement after a failure that lasted ends the waits of the project's lanes.
  mutating func learn(
    from reply: SendReply, of scope: DeliveryScope, in schedule: inout LaneSchedule, now: Milliseconds
  ) {
    // A webhook is not hurried: its owner may have slowed it down on purpose.
    if scope.destination == .webhook { return }
    let project = scope.project
    switch reply.answer.verdict {
    case .notSent: return
    case .serverFailed, .unreachable:
      let jitter = Milliseconds(FNV1a.spread(reply.id) % UInt64(Self.interval))
      let next = now + max(Self.interval + jitter, min(reply.answer.retryAfter ?? 0, Backoff.longestWait))
      failing[project, default: Failing(since: now, tryAt: next)].tryAt = next
    default:
      // Any other answer comes from FCM itself.
      guard let ended = failing.removeValue(forKey: project), now - ended.since >= Self.threshold else { return }
      schedule.hurry(project, now: now, spread: Self.spread)
    }
  }

  /// Tries one lane of each project whose time has come.
  mutating func tryDue(in schedule: inout LaneSchedule, now: Milliseconds) {
    let due = failing.filter { $0.value.tryAt <= now }.keys.sorted { $0.destination.group < $1.destination.group }
    for project in due {
      failing[project]?.tryAt = now + Self.interval
      if let id = schedule.oldestRetry(project, now: now) { schedule.wait(id, until: now) }
    }
  }
}

extension LaneSchedule {
  /// A lane's push is tried again after an answer. If its project was at fault, the wait may end sooner.
  mutating func wait(
    _ id: LaneID, _ item: WaitingPush, after wait: Milliseconds, _ reply: SendReply, now: Milliseconds
  ) {
    let floor: Milliseconds
    switch reply.answer.verdict {
    case .serverFailed: floor = Backoff.server.floor
    case .unreachable: floor = Backoff.connection.floor
    default: return self.wait(id, until: now + wait)
    }
    let asked = min(reply.answer.retryAfter ?? 0, Backoff.longestWait)
    retry(id, in: DeliveryScope(of: item.target), at: now + wait, earliest: now + max(floor, asked))
  }

  /// A lane is taken up from its row, and waits.
  mutating func wait(_ id: LaneID, _ item: WaitingPush, until time: Milliseconds, now: Milliseconds) {
    // A request that may be in flight is waited for; a project that failed may work again sooner.
    if item.inAir != true, item.failingSince != nil, item.httpStatus ?? 500 >= 500 {
      retry(id, in: DeliveryScope(of: item.target), at: time, earliest: now)
    } else {
      wait(id, until: time)
    }
  }
}
