import Foundation
import HTTPServer
import NudgeSchema
import ServiceKit
import Synchronization

/// The streams of `GET /v1/live` with all that they need: reading, time, ends. It also reads the answers to questions about people.
final class LiveService: Sendable {
  /// `GET /v1/live`; nil: there are no streams.
  let route: HTTPRoute?
  private let streams: LiveStreams
  private let tail: LiveTail
  private let backfill: LiveBackfill
  private let credentials: Credentials
  private let timer = RepeatingTimer("http-live", every: .seconds(1))
  private let keyReads: Mutex<Int>

  init(
    _ context: ServiceContext, credentials: Credentials, rates: CallerRates, questions: PersonQuestions,
    limits: LiveStreams.Limits, logger: Logger
  ) {
    let metrics = LiveMetrics(context.metrics)
    streams = LiveStreams(limits: limits, metrics: metrics)
    route =
      limits.streams > 0 ? LiveEndpoint(credentials: credentials, rates: rates, streams: streams).route : nil
    tail = LiveTail(
      settings: context.settings, streams: streams, questions: questions, logger: logger,
      remark: { [health = context.health] in
        health.readiness.setRemark("live", $0)
        metrics.report(isReading: $0 == nil)
      })
    backfill = LiveBackfill(settings: context.settings, streams: streams, logger: logger)
    self.credentials = credentials
    keyReads = Mutex(credentials.tokenKeyReads)
  }

  func start() {
    backfill.start()
    // Without streams the topic is read once somebody asks for a person.
    guard route != nil else { return }
    tail.start()
    timer.start { [self] in tick() }
  }

  /// Why answers are not read yet, or any more; nil: they are.
  func obstacle() -> String? {
    tail.start()
    switch streams.condition {
    case .ready: return nil
    case .starting: return "this instance has just begun to read"
    case .failed(let reason): return reason
    }
  }

  private func tick() {
    let seconds = SystemClock.milliseconds() / 1_000
    let reads = credentials.tokenKeyReads
    let haveChanged = keyReads.withLock { known in
      defer { known = reads }
      return known != reads
    }
    if haveChanged { streams.keysChanged(seconds: seconds) }
    streams.tick(now: SystemClock.steadyMilliseconds(), seconds: seconds)
  }

  /// Ends all streams, spread over some seconds.
  func stop() {
    streams.close { Thread.sleep(forTimeInterval: $0.seconds) }
    timer.stop()
    backfill.close()
    tail.close()
  }
}

extension LiveStreams.Limits {
  /// By the settings.
  init(_ values: SettingsValues, streams: Int) {
    self.streams = streams
    streamsOfAPerson = values[APISettings.liveUserStreams]
    ring = streams > 0 ? values[APISettings.liveMemory] << 20 : 0
    waitingInAll = values[APISettings.liveMemory] << 20
  }
}
