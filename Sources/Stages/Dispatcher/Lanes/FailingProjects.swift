import NudgeSchema

/// The projects that give no judgement: FCM fails, or cannot be reached. Their lanes wait for longer and longer, each for itself. So that
/// they need not wait on when the project works again, one lane is tried every now and then, and the first judgement ends the waits of all.
/// The tasks of a stream thread share it. Times are of the steady clock.
struct FailingProjects: Sendable {
  /// From the last failure to a try: once to one and a half times as long, so that threads do not try all at once. Google asks for 10 s.
  static let interval: Milliseconds = 10_000
  /// So long a project fails before its recovery ends waits. A failure now and then leaves the others to their own waits.
  static let threshold: Milliseconds = 10_000
  /// From a try that is due, and for which a task has no lane, to the next look.
  private static let look: Milliseconds = 1_000

  private struct Failing {
    var since: Milliseconds
    var tryAt: Milliseconds
  }

  private var failing: [DeliveryScope: Failing] = [:]

  /// When a task should look whether a try is due; nil: nothing fails.
  func nextLook(now: Milliseconds) -> Milliseconds? {
    failing.values.map(\.tryAt).min().map { $0 > now ? $0 : now + Self.look }
  }

  /// Learns from an answer. Returns whether it is the first judgement after a failure that lasted, which ends the waits of the project's
  /// lanes.
  mutating func learn(from reply: SendReply, of scope: DeliveryScope, now: Milliseconds) -> Bool {
    // A webhook is not hurried: its owner may have slowed it down on purpose.
    if scope.destination == .webhook { return false }
    let project = scope.project
    switch reply.answer.verdict {
    case .notSent: return false
    case .serverFailed, .unreachable:
      let jitter = Milliseconds(FNV1a.spread(reply.id) % UInt64(Self.interval / 2))
      let next = now + max(Self.interval + jitter, min(reply.answer.retryAfter ?? 0, Backoff.longestWait))
      failing[project, default: Failing(since: now, tryAt: next)].tryAt = next
      return false
    default:
      // Any other answer comes from FCM itself.
      return failing.removeValue(forKey: project).map { now - $0.since >= Self.threshold } ?? false
    }
  }

  /// Tries one lane of each project whose time has come; where the task has none that may be tried, another task does.
  mutating func tryDue(in schedule: inout LaneSchedule, now: Milliseconds) {
    let due = failing.filter { $0.value.tryAt <= now }.keys.sorted { $0.destination.group < $1.destination.group }
    for project in due {
      guard let id = schedule.oldestRetry(project, now: now) else { continue }
      failing[project]?.tryAt = now + Self.interval
      schedule.wait(id, until: now)
    }
  }
}

extension LaneSchedule {
  /// A lane's push is tried again after an answer. If its project was at fault, the wait may end sooner.
  mutating func wait(
    _ id: LaneID, in scope: DeliveryScope, after wait: Milliseconds, _ reply: SendReply, now: Milliseconds
  ) {
    let floor: Milliseconds
    switch reply.answer.verdict {
    case .serverFailed: floor = Backoff.server.floor
    case .unreachable: floor = Backoff.connection.floor
    default: return self.wait(id, until: now + wait)
    }
    let asked = min(reply.answer.retryAfter ?? 0, Backoff.longestWait)
    retry(id, in: scope, at: now + wait, earliest: now + max(floor, asked))
  }

  /// A lane is taken up from its row, and waits.
  mutating func wait(
    _ id: LaneID, _ item: WaitingPush, in scope: DeliveryScope, until time: Milliseconds, now: Milliseconds
  ) {
    // A request that may be in flight is waited for; a project that failed may work again sooner.
    if item.inAir != true, item.failingSince != nil, item.httpStatus ?? 500 >= 500 {
      retry(id, in: scope, at: time, earliest: now)
    } else {
      wait(id, until: time)
    }
  }
}
