import NudgeSchema

/// The projects (FCM) and push services (Web Push) that fail or cannot be reached, so that their pushes get no judgement. Each lane of a
/// failing project waits on its own, longer after each try. From time to time one lane is tried, and the first judgement ends the waits of
/// all. The tasks of a stream thread share this value. Times are on the steady clock.
struct FailingProjects: Sendable {
  /// The shortest time from the last failure to a try; Google asks for 10 s. It is extended by up to a half, so that threads do not all try
  /// at once.
  static let interval: Milliseconds = 10_000
  /// How long a project must have failed for its recovery to end waits. After a shorter failure the lanes keep their own waits.
  static let threshold: Milliseconds = 10_000
  /// The time until the next check if a try is due, but the task has no lane to try.
  private static let checkInterval: Milliseconds = 1_000

  private struct Failing {
    var since: Milliseconds
    var tryAt: Milliseconds
  }

  private var failing: [DeliveryScope: Failing] = [:]

  /// When a task should check whether a try is due; nil if no project fails.
  func nextCheck(now: Milliseconds) -> Milliseconds? {
    failing.values.map(\.tryAt).min().map { $0 > now ? $0 : now + Self.checkInterval }
  }

  /// Updates a project after an answer. Returns whether the answer is the first judgement after a long failure. If so, the waits of the
  /// project's lanes end.
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
      // Any other answer is a judgement of the push service itself.
      return failing.removeValue(forKey: project).map { now - $0.since >= Self.threshold } ?? false
    }
  }

  /// Tries one lane of each project for which a try is due. If this task has no suitable lane, the try is left to another task.
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
  /// Has a lane wait after an answer, before its push is tried again. If the project was at fault, its recovery may end the wait earlier.
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

  /// Has a lane wait that was loaded from its row.
  mutating func wait(
    _ id: LaneID, _ item: WaitingPush, in scope: DeliveryScope, until time: Milliseconds, now: Milliseconds
  ) {
    // If a request may be in flight, the lane waits for its full time. If the project failed, it may work again earlier.
    if item.inAir != true, item.failingSince != nil, item.httpStatus ?? 500 >= 500 {
      retry(id, in: scope, at: time, earliest: now)
    } else {
      wait(id, until: time)
    }
  }
}
