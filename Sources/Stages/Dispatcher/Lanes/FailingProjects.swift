import NudgeSchema

/// Projects without a judgement, because FCM fails or cannot be reached. Their lanes wait individually, longer and longer. So that they
/// need not wait any longer once the project works again, one lane is tried from time to time, and the first judgement ends the waits of
/// all. The tasks of a stream thread share this value. Times are on the steady clock.
struct FailingProjects: Sendable {
  /// The time from the last failure to a try, or up to one and a half times as long, so that threads do not all try at once. Google asks
  /// for 10 s.
  static let interval: Milliseconds = 10_000
  /// How long a project must fail before its recovery ends waits. After an occasional failure the lanes keep their own waits.
  static let threshold: Milliseconds = 10_000
  /// The time until the next check if a try is due but the task has no lane for it.
  private static let look: Milliseconds = 1_000

  private struct Failing {
    var since: Milliseconds
    var tryAt: Milliseconds
  }

  private var failing: [DeliveryScope: Failing] = [:]

  /// When a task should check whether a try is due; nil if nothing fails.
  func nextLook(now: Milliseconds) -> Milliseconds? {
    failing.values.map(\.tryAt).min().map { $0 > now ? $0 : now + Self.look }
  }

  /// Updates the project after an answer. Returns whether it is the first judgement after a long failure, which ends the waits of the
  /// project's lanes.
  mutating func learn(from reply: SendReply, of scope: DeliveryScope, now: Milliseconds) -> Bool {
    // A webhook's waits do not end early, because its owner may have slowed it down on purpose.
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

  /// Tries one lane of each project that is due. If the task has no suitable lane, another task tries one.
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
  /// A lane's push is tried again after an answer. If its project was at fault, the wait may end earlier.
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

  /// A lane is loaded from its row and waits.
  mutating func wait(
    _ id: LaneID, _ item: WaitingPush, in scope: DeliveryScope, until time: Milliseconds, now: Milliseconds
  ) {
    // A request that may be in flight must be awaited, but a project that failed may work again earlier.
    if item.inAir != true, item.failingSince != nil, item.httpStatus ?? 500 >= 500 {
      retry(id, in: scope, at: time, earliest: now)
    } else {
      wait(id, until: time)
    }
  }
}
