import NudgeSchema

@testable import StreamRuntime

/// Judges effects when they are performed, from the view of the outside:
///
/// - only the owner of a task performs effects for it;
/// - a lane has one request at a time;
/// - a record is not sent again after a process that still owns the task has taken its answer, or any process has committed it;
/// - a process does not send a record again while it waits for the answer to its own request, or within ten minutes of an accepting
///   answer, whichever process owned the task in between;
/// - after the broker was away from all, no process sends what another has in flight, or knows to be accepted;
/// - a record is sent again only after a busy answer or a new epoch of the task, and not before the time in its committed lane row.
final class EffectLedger {
  private struct Record: Hashable {
    var task: Int32
    var key: String
    var origin: Int64
    init(_ request: SendingRequest) { (task, key, origin) = (request.task, request.key, request.origin) }
  }
  private struct Lane: Hashable {
    var task: Int32
    var key: String
  }
  /// The last request of a lane.
  private struct Sent {
    var number: Int
    var record: Record
    var epoch: Int
    var process: String
    var askedAt: Milliseconds
    /// The lane's row that counts it is in no transaction yet, in one that is sealed, or committed.
    var row = RowState.open
    /// Its answer was taken by the stage.
    var isAnswered = false
  }
  /// What a process knew of a record when it lost its tasks.
  private struct Handed {
    var process: String
    var at: Milliseconds
    /// The accepting answer is written: whoever has the task from then on knows it, whoever dies.
    var isWritten = false
  }
  private enum RowState { case open, sealed, committed }
  private struct Holder: Hashable {
    var process: String
    var task: Int32
  }

  /// The epoch of each task that runs in a process. Numbers are never reused.
  private var epochs: [Holder: Int] = [:]
  private var epochCount = 0
  private var last: [Lane: Sent] = [:]
  /// When what has not been performed yet was asked for.
  private var asked: [Holder: [(request: SendingRequest, at: Milliseconds, row: RowState)]] = [:]
  /// Accepted records whose answers were taken in a current epoch.
  private var taken: [Holder: Set<Record>] = [:]
  /// Those of them in a transaction in flight.
  private var sealed: [Holder: Set<Record>] = [:]
  /// Accepted, and the answer committed.
  private var settled: Set<Record> = []
  private var dead: Set<String> = []
  /// A record in a process.
  private struct Known: Hashable {
    var process: String
    var record: Record
  }
  /// Requests of living processes whose answers have not come, by their number.
  private var inFlight: [Known: Int] = [:]
  /// When a living process was given an accepting answer.
  private var accepted: [Known: Milliseconds] = [:]
  /// How long a process must remember that.
  private static let memory: Milliseconds = 600_000
  /// What living processes knew when the broker was away from all of them: the others are told before they go on.
  private var handed: [Record: Handed] = [:]
  private var count = 0
  private let violation: (String) -> Void

  init(violation: @escaping (String) -> Void) { self.violation = violation }

  // MARK: The stage

  func asked(_ request: SendingRequest, by process: String, at time: Milliseconds) {
    guard !dead.contains(process) else { return }
    asked[Holder(process: process, task: request.task), default: []].append((request, time, .open))
  }

  func received(_ reply: SendingReply, by process: String) {
    guard !dead.contains(process) else { return }
    let request = reply.request
    // It was answered by an earlier request, and is not performed.
    asked[Holder(process: process, task: request.task)]?.removeAll { $0.request == request }
    let lane = Lane(task: request.task, key: request.key)
    if last[lane]?.number == reply.number { last[lane]?.isAnswered = true }
    if reply.isAccepted {
      taken[Holder(process: process, task: request.task), default: []].insert(Record(request))
    }
  }

  // MARK: The thread

  /// From the call in which a process dies on, what its thread still does is nobody's.
  func died(_ process: String) {
    dead.insert(process)
    handed = handed.filter { $0.value.process != process || $0.value.isWritten }
    for known in inFlight.keys where known.process == process { inFlight[known] = nil }
    for known in accepted.keys where known.process == process { accepted[known] = nil }
    for holder in epochs.keys where holder.process == process { end(holder) }
  }

  func started(_ process: String) { dead.remove(process) }

  /// These processes lose their tasks at once, and keep what they know.
  func lost(by members: Set<String>, at now: Milliseconds) {
    for known in inFlight.keys where members.contains(known.process) {
      handed[known.record] = Handed(process: known.process, at: now)
    }
    for (known, at) in accepted where members.contains(known.process) && !settled.contains(known.record) {
      // It forgets the answer when it has known it for that long.
      if now - at < Self.memory { handed[known.record] = Handed(process: known.process, at: at) }
    }
  }

  /// A generation may begin without this process: it cannot tell the others in time.
  func expelled(_ process: String) { handed = handed.filter { $0.value.process != process || $0.value.isWritten } }

  /// A process has written this record for the next owner of a task.
  func handedOver(_ record: OutputRecord, by process: String) {
    guard let known = SendingStage.handedOver(record.value, key: record.key), let reply = known.reply, reply.isAccepted
    else { return }
    let record = Record(reply.request)
    if handed[record]?.process == process { handed[record]?.isWritten = true }
  }

  func observed(_ event: StreamEvent, of process: String) {
    guard !dead.contains(process) else { return }
    switch event {
    case .running(let task, _, _, _, _):
      epochCount += 1
      epochs[Holder(process: process, task: task)] = epochCount
    case .released(let tasks, _):
      for task in tasks { end(Holder(process: process, task: task)) }
    case .committed:
      for holder in epochs.keys where holder.process == process { committed(holder) }
    case .outcomeKnown(let task, committed: true): committed(Holder(process: process, task: task))
    default: break
    }
  }

  /// The work of these tasks since their last transaction is sealed.
  func sealed(_ tasks: [Int32], by process: String) {
    guard !dead.contains(process) else { return }
    for task in tasks {
      let holder = Holder(process: process, task: task)
      if let records = taken[holder] { sealed[holder, default: []].formUnion(records) }
      move(.open, to: .sealed, holder)
    }
  }

  private func move(_ from: RowState, to: RowState, _ holder: Holder) {
    if let waiting = asked[holder] {
      asked[holder] = waiting.map { ($0.request, $0.at, $0.row == from ? to : $0.row) }
    }
    guard let epoch = epochs[holder] else { return }
    for (lane, sent) in last where sent.epoch == epoch && sent.row == from { last[lane]?.row = to }
  }

  private func end(_ holder: Holder) {
    epochs[holder] = nil
    asked[holder] = nil
    taken[holder] = nil
    sealed[holder] = nil
  }

  private func committed(_ holder: Holder) {
    if let records = sealed.removeValue(forKey: holder) {
      settled.formUnion(records)
      taken[holder]?.subtract(records)
    }
    move(.sealed, to: .committed, holder)
  }

  // MARK: The outside

  /// A request leaves; returns its number.
  func performed(_ request: SendingRequest, by process: String, isOwner: Bool, at now: Milliseconds) -> Int {
    let holder = Holder(process: process, task: request.task)
    let record = Record(request)
    let lane = Lane(task: request.task, key: request.key)
    let epoch = epochs[holder] ?? 0
    let what = "\(process) sends \(request.task)/\(request.key) \(request.origin)"
    if !isOwner { violation("\(what) and does not own the task") }
    if settled.contains(record) { violation("\(what), whose answer was committed") }
    if taken[holder]?.contains(record) == true { violation("\(what) again in spite of its answer") }
    let known = Known(process: process, record: record)
    if inFlight[known] != nil { violation("\(what) while its own request for it waits for an answer") }
    if let answeredAt = accepted[known], now - answeredAt < Self.memory {
      violation("\(what), to which it was given the answer \(now - answeredAt) ms ago")
    }
    if let it = handed[record], it.process != process, now - it.at < Self.memory {
      let sentBefore = last[lane].map { $0.record == record ? now - $0.askedAt : .max } ?? .max
      let isKnown = accepted[Known(process: it.process, record: record)] != nil
      // Nobody waits longer for an answer.
      if it.isWritten || isKnown || sentBefore < SendingStage.unansweredAfter {
        violation("\(what), which \(it.process) has sent and has not been asked about")
      }
    }
    handed[record] = nil
    if let before = last[lane], !before.isAnswered {
      if before.epoch == epoch {
        violation("\(what) while its \(before.record.origin) waits for an answer")
      } else if before.row == .committed, now < before.askedAt + SendingStage.unansweredAfter,
        // An earlier request for it was accepted, and this one was a repeat.
        !settled.contains(before.record), taken[holder]?.contains(before.record) != true
      {
        violation("\(what) too early after \(before.process) sent \(before.record.origin)")
      }
    }
    count += 1
    inFlight[known] = count
    let index = asked[holder]?.firstIndex { $0.request == request }
    let asking = index.flatMap { asked[holder]?.remove(at: $0) }
    last[lane] = Sent(
      number: count, record: record, epoch: epoch, process: process, askedAt: asking?.at ?? now,
      row: asking?.row ?? .open)
    return count
  }

  /// An answer comes to a process, whatever that makes of it.
  func delivered(_ reply: SendingReply, to process: String, at now: Milliseconds) {
    guard !dead.contains(process) else { return }
    let known = Known(process: process, record: Record(reply.request))
    if inFlight[known] == reply.number { inFlight[known] = nil }
    if reply.isAccepted { accepted[known] = now } else { handed[known.record] = nil }
  }
}
