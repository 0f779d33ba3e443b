import Foundation
import HTTPServer
import NudgeSchema
import ServiceKit
import Synchronization

/// The streams of `GET /v1/live` with all that they need: reading, time, ends.
final class LiveService: Sendable {
  let route: HTTPRoute
  private let streams: LiveStreams
  private let tail: LiveTail
  private let backfill: LiveBackfill
  private let credentials: Credentials
  private let timer = RepeatingTimer("http-live", every: .seconds(1))
  private let keyReads: Mutex<Int>

  init(
    _ context: ServiceContext, credentials: Credentials, rates: CallerRates, limits: LiveStreams.Limits, logger: Logger
  ) {
    let metrics = LiveMetrics(context.metrics)
    streams = LiveStreams(limits: limits, metrics: metrics)
    route = LiveEndpoint(credentials: credentials, rates: rates, streams: streams).route
    tail = LiveTail(
      settings: context.settings, streams: streams, logger: logger,
      remark: { [health = context.health] in
        health.readiness.setRemark("live", $0)
        metrics.reading.set($0 == nil ? 1 : 0)
      })
    backfill = LiveBackfill(settings: context.settings, streams: streams, logger: logger)
    self.credentials = credentials
    keyReads = Mutex(credentials.tokenKeyReads)
  }

  func start() {
    tail.start()
    backfill.start()
    timer.start { [self] in tick() }
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
    ring = values[APISettings.liveMemory] << 20
    waitingInAll = values[APISettings.liveMemory] << 20
  }
}
