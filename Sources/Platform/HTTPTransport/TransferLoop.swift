internal import CLibcurl
internal import Dispatch
internal import Foundation
internal import Synchronization

/// The client's thread. It takes requests from its mailbox, keeps the connections busy, and calls completions.
///
/// `@unchecked Sendable` is safe: a `Mutex` guards `mailbox`; `wakeup`, `configuration`, `log` and `finished` never
/// change after `init`; only the thread that ``start()`` creates (before that, `init`) uses the properties marked
/// "Thread's own".
final class TransferLoop: @unchecked Sendable {
  /// The state shared between the client's thread and its callers.
  private struct Mailbox {
    var arrivals: [Submission] = []
    /// Whether the thread sleeps and must be woken.
    var asleep = false
    /// When the grace of a shutdown ends, on ``MonotonicClock``; nil while the client is open.
    var shutdownDeadline: UInt64?
    /// The counters after the thread's last round. `queued` does not include new arrivals.
    var statistics = HTTPClientStatistics()
  }

  private let mailbox = Mutex(Mailbox())
  let configuration: HTTPClientConfiguration
  let log: @Sendable (HTTPClientLogLevel, String) -> Void
  private let wakeup: WakeupPipe
  private let finished = DispatchGroup()
  private let maxInFlight: Int
  /// ``HTTPClientConfiguration/silence`` in nanoseconds.
  let silence: UInt64

  // Thread's own.
  private let share: UnsafeMutableRawPointer
  var sets: ConnectionSets
  var transfers: TransferPool
  private var waiting = RequestQueue()
  var counters = HTTPClientStatistics()
  /// When to check connections for silence next.
  var silenceCheck: UInt64 = 0
  private var ready: [pollfd] = []
  /// How often waiting requests are asked whether they may still start, in nanoseconds.
  private static let waitingCheck: UInt64 = 100_000_000
  private static let threadKey = "nudge.http-client"

  init(
    _ configuration: HTTPClientConfiguration, log: @escaping @Sendable (HTTPClientLogLevel, String) -> Void
  ) throws(HTTPTransportError) {
    guard CurlLibrary.initialization == CURLE_OK else {
      throw HTTPTransportError(kind: .other, message: CurlLibrary.text(of: CurlLibrary.initialization))
    }
    let limit = configuration.maxRequestsPerConnection ?? (HTTPClient.resetsFinishedStreams ? 900 : Int.max)
    guard configuration.maxConnectionsPerHost > 0, configuration.maxConcurrentStreams > 0,
      configuration.maxInFlight.map({ $0 > 0 }) ?? true, configuration.maxQueued >= 0,
      configuration.maxResponseBytes >= 0, limit > configuration.maxConcurrentStreams
    else {
      throw HTTPTransportError(
        kind: .invalidRequest,
        message: "the HTTP client's limits must be positive, and maxRequestsPerConnection above maxConcurrentStreams")
    }
    wakeup = try WakeupPipe()
    guard let share = curl_share_init() else {
      throw HTTPTransportError(kind: .other, message: "libcurl cannot make a share handle: out of memory")
    }
    // Only one thread uses it, so it needs no locks. A new set of connections then resumes TLS sessions of the former
    // one.
    nudge_share_add(share, CURL_LOCK_DATA_SSL_SESSION)
    nudge_share_add(share, CURL_LOCK_DATA_DNS)
    self.share = share
    self.configuration = configuration
    self.log = log
    silence = max(configuration.silence.wholeNanoseconds, 1_000_000)
    let now = MonotonicClock.now()
    transfers = TransferPool(keeping: configuration.idleTransferLifetime, now: now)
    sets = try ConnectionSets(configuration, maxRequests: limit, now: now)
    let capacity = configuration.maxConnectionsPerHost * sets.streams
    maxInFlight = min(configuration.maxInFlight ?? capacity, capacity)
  }

  // MARK: - Any thread

  func start() {
    finished.enter()
    let thread = Thread { [self] in
      Thread.current.threadDictionary[Self.threadKey] = ObjectIdentifier(self)
      run()
      finished.leave()
    }
    thread.name = "nudge-http"
    thread.start()
  }

  func submit(_ submission: Submission) {
    var submission = submission
    submission.deadline = MonotonicClock.now() &+ submission.request.timeout.wholeNanoseconds
    let (refusal, wasAsleep) = mailbox.withLock { box -> (HTTPTransportError?, Bool) in
      if box.shutdownDeadline != nil {
        return (HTTPTransportError(kind: .shutDown, message: "the client was shut down"), false)
      }
      let room = configuration.maxQueued + maxInFlight - box.statistics.queued - box.statistics.inFlight
      guard box.arrivals.count < room else {
        let fix = "requests wait already; send slower, or raise maxQueued or the connections"
        return (HTTPTransportError(kind: .queueFull, message: "\(configuration.maxQueued) \(fix)"), false)
      }
      box.arrivals.append(submission)
      defer { box.asleep = false }
      return (nil, box.asleep)
    }
    if wasAsleep { wakeup.signal() }
    if let refusal { submission.completion(.failure(refusal)) }
  }

  func requestShutdown(grace: Duration) {
    let deadline = MonotonicClock.now() + grace.wholeNanoseconds
    mailbox.withLock { box in
      box.shutdownDeadline = min(deadline, box.shutdownDeadline ?? .max)
      box.asleep = false
    }
    wakeup.signal()
  }

  func waitUntilFinished() {
    // A completion would wait for itself.
    if Thread.current.threadDictionary[Self.threadKey] as? ObjectIdentifier == ObjectIdentifier(self) { return }
    finished.wait()
  }

  var statistics: HTTPClientStatistics {
    mailbox.withLock { box in
      var statistics = box.statistics
      statistics.queued += box.arrivals.count
      statistics.requests += box.arrivals.count
      return statistics
    }
  }

  // MARK: - The client's thread

  private func run() {
    blockBrokenPipeSignal()
    while true {
      let now = MonotonicClock.now()
      sets.retireIfDue(now) { log(.debug, $0) }
      cork(true)
      driveReadySockets(now)
      checkSilence(now)
      let deadline = takeArrivals()
      if let deadline {
        failWaiting()
        if now >= deadline { cancelRunning() }
      }
      // `now` may be outdated: completions and the mailbox may have taken time, and new requests have deadlines after
      // it.
      let later = MonotonicClock.now()
      startWaiting(later)
      let started = MonotonicClock.now()
      for set in sets.all { set.driveTimers(now: started) }
      finishCompleted()
      cork(false)
      reportDied()
      sets.closeDrained()
      transfers.trim(now: MonotonicClock.now())
      if deadline != nil, sets.isIdle { break }
      sleep(until: deadline)
    }
    publish()
    sets.closeAll()
    // Handles are freed before the objects that they share.
    transfers.removeAll()
    curl_share_cleanup(share)
    mailbox.withLock {
      $0.statistics.transfers = 0
      $0.statistics.openConnections = 0
      $0.statistics.inFlight = 0
    }
  }

  /// Waits until a socket is ready, a timer is due, or the mailbox has work. `ready` then has the sockets.
  private func sleep(until deadline: UInt64?) {
    publish()
    ready.removeAll(keepingCapacity: true)
    ready.append(pollfd(fd: wakeup.readEnd, events: Int16(POLLIN), revents: 0))
    var wakeAt = min(deadline ?? .max, sets.nextExpiry ?? .max)
    if counters.inFlight > 0 { wakeAt = min(wakeAt, silenceCheck) }
    for set in sets.all {
      for interest in set.interests {
        ready.append(pollfd(fd: interest.socket, events: interest.events, revents: 0))
      }
      wakeAt = min(wakeAt, set.timerDue ?? .max)
    }
    if let due = transfers.trimDue { wakeAt = min(wakeAt, due) }
    if waiting.count > 0 { wakeAt = min(wakeAt, waiting.earliestDeadline, MonotonicClock.now() + Self.waitingCheck) }
    let now = MonotonicClock.now()
    var milliseconds: Int32 = -1
    if wakeAt <= now {
      milliseconds = 0
    } else if wakeAt < .max {
      milliseconds = Int32(min((wakeAt - now + 999_999) / 1_000_000, 60_000))
    }
    let mustNotSleep = mailbox.withLock { box in
      if !box.arrivals.isEmpty || box.shutdownDeadline != deadline { return true }
      box.asleep = milliseconds != 0
      return false
    }
    let count = poll(&ready, nfds_t(ready.count), mustNotSleep ? 0 : milliseconds)
    if count <= 0 {
      // A signal arrived, or nothing is ready. The next round still checks timers and the mailbox.
      ready.removeAll(keepingCapacity: true)
    }
    if ready.first?.revents ?? 0 != 0 { wakeup.drain() }
  }

  private func driveReadySockets(_ now: UInt64) {
    for entry in ready.dropFirst() where entry.revents != 0 {
      // Driving one socket may close another, whose number may be reused, so the set is looked up each time.
      for set in sets.all where set.interests.contains(where: { $0.socket == entry.fd }) {
        if entry.revents & Int16(POLLIN) != 0 { set.recordBytes(entry.fd, now: now) }
        set.drive(entry.fd, entry.revents)
      }
    }
    ready.removeAll(keepingCapacity: true)
    finishCompleted()
  }

  /// Moves the mailbox's requests to the queue. Returns the deadline of a shutdown once there is one.
  private func takeArrivals() -> UInt64? {
    var arrivals: [Submission] = []
    let deadline = mailbox.withLock { box in
      box.asleep = false
      swap(&arrivals, &box.arrivals)
      box.statistics.queued += arrivals.count
      box.statistics.requests += arrivals.count
      return box.shutdownDeadline
    }
    counters.requests += arrivals.count
    waiting.append(arrivals)
    return deadline
  }

  private func startWaiting(_ now: UInt64) {
    for submission in waiting.popExpired(now) {
      fail(submission, HTTPTransportError(kind: .timedOut, message: "no stream became free in the request's time"))
    }
    for submission in waiting.popWithheld() { withhold(submission) }
    while counters.inFlight - sets.doubted < maxInFlight, let next = waiting.first {
      var chosen: ConnectionSet?
      var failure: HTTPTransportError?
      do throws(HTTPTransportError) { chosen = try sets.set(for: next.request.url, now: now) } catch { failure = error }
      if chosen == nil, failure == nil { break }
      waiting.removeFirst()
      if let mayStart = next.request.mayStart, !mayStart() {
        withhold(next)
        continue
      }
      // Rounded up, because 0 means no limit to libcurl, which counts milliseconds in 32 bits.
      let remaining = Int(min((max(next.deadline, now + 1) - now + 999_999) / 1_000_000, UInt64(Int32.max)))
      var transfer: Transfer?
      do throws(HTTPTransportError) {
        if let failure { throw failure }
        guard let set = chosen else { break }
        let loaded = try transfers.take(makeTransfer)
        transfer = loaded
        try loaded.load(next, plain: configuration.plainProtocol, remaining: remaining)
        let code = set.add(loaded)
        guard code == CURLM_OK else {
          _ = loaded.abandon()
          throw HTTPTransportError(kind: .other, message: CurlLibrary.text(of: code))
        }
        loaded.startedAt = now
        counters.inFlight += 1
      } catch {
        if let transfer { transfers.giveBack(transfer) }
        fail(next, error)
      }
    }
  }

  func makeTransfer() throws(HTTPTransportError) -> Transfer {
    try Transfer(configuration, share: share)
  }

  private func withhold(_ submission: Submission) {
    fail(submission, .withheld)
  }

  private func fail(_ submission: Submission, _ error: HTTPTransportError) {
    counters.failures += 1
    submission.completion(.failure(error))
  }

  /// Removes finished transfers and calls their completions.
  private func finishCompleted() {
    for set in sets.all {
      var left: Int32 = 0
      while let message = curl_multi_info_read(set.multi, &left) {
        guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
        // The result is read before the handle is removed, because the message is stored in the handle.
        let code = message.pointee.data.result
        var context: UnsafeMutableRawPointer?
        nudge_easy_get_context(easy, &context)
        guard let context else { continue }
        let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        let isProbe = transfer.isProbe
        let end = transfer.finish(code, keptHeaders: configuration.keptHeaders)
        if case .success(let response)? = end?.1 {
          if response.httpVersion == .http2, let port = transfer.localPort { set.recordHTTP2(at: port) }
        } else if code == CURLE_OPERATION_TIMEDOUT, !isProbe {
          let now = MonotonicClock.now()
          doubtConnection(of: transfer, quietFor: now - transfer.startedAt, now)
        }
        set.remove(transfer)
        transfers.giveBack(transfer)
        if isProbe { continue }
        counters.inFlight -= 1
        guard let (completion, result) = end else { continue }
        if case .success = result { counters.responses += 1 } else { counters.failures += 1 }
        completion(result)
      }
    }
  }

  private func failWaiting() {
    while let next = waiting.first {
      waiting.removeFirst()
      fail(
        next, HTTPTransportError(kind: .shutDown, message: "the client was shut down before the request was started"))
    }
  }

  private func cancelRunning() {
    for transfer in transfers.all {
      guard transfer.submission != nil, let set = sets.all.first(where: { $0.id == transfer.connectionSet }) else {
        continue
      }
      end(
        transfer, in: set,
        HTTPTransportError(
          kind: .cancelled, message: "the client was shut down and the answer did not come in its grace",
          mayHaveBeenDelivered: transfer.mayHaveSent))
    }
  }

  /// Ends a request on the wire with an error.
  func end(_ transfer: Transfer, in set: ConnectionSet, _ error: HTTPTransportError) {
    let isProbe = transfer.isProbe
    let completion = transfer.abandon()
    set.remove(transfer)
    transfers.giveBack(transfer)
    guard !isProbe, let completion else { return }
    counters.inFlight -= 1
    counters.failures += 1
    completion(.failure(error))
  }

  private func cork(_ on: Bool) {
    for set in sets.all { set.cork(on) }
  }

  private func publish() {
    counters.openConnections = sets.openConnections
    counters.openedConnections = sets.openedConnections
    counters.retiredConnections = sets.retired
    counters.queued = waiting.count
    counters.transfers = transfers.all.count
    mailbox.withLock { $0.statistics = counters }
  }

  /// OpenSSL writes with `write`, which raises SIGPIPE on a closed connection. On this thread it should be an error
  /// like others.
  private func blockBrokenPipeSignal() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }
}
