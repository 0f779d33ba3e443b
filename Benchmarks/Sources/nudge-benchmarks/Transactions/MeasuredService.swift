import Foundation
import NudgeSchema
import ServiceKit
import StreamRuntime
import Synchronization

/// A stage that runs as a service in this process, with a probe.
final class MeasuredService<S: Stage> {
  let probe = StreamProbe()
  private let service: StreamService<S>
  private let ends = Ends()

  private final class Ends: Sendable {
    let reasons = Mutex<[String]>([])
  }

  init(
    _ broker: BenchmarkBroker, prefix: String, stateDirectory: String, batch: Int, transactions: String = "auto",
    makeStage: @escaping @Sendable (StreamProbe) -> S
  ) throws {
    let schema = SettingsSchema(
      program: "benchmark", abstract: "", version: NudgeVersion.current, settings: ServiceSettings.all)
    let arguments = [
      "--bootstrap-servers", broker.bootstrapServers, "--state-dir", stateDirectory, "--topic-prefix", prefix,
      "--transactions", transactions,
    ]
    guard case .run(let values) = try schema.parse(arguments, environment: [:]) else {
      throw BenchmarkFailure("the service's settings make no run")
    }
    var limits = StreamLimits()
    limits.maxBatchRecords = batch
    let probe = probe
    service = StreamService(
      .init(settings: ServiceSettings(values), limits: limits), logger: Logger(label: "benchmark", sink: probe.sink),
      health: HealthState(), metrics: MetricsRegistry(), makeStage: { makeStage(probe) })
  }

  func start() throws {
    let ends = ends
    try service.start { end in ends.reasons.withLock { $0.append(end.reason) } }
  }

  /// Drains and stops. Throws if it had ended by itself.
  func stop() throws {
    service.stop()
    let reasons = ends.reasons.withLock { $0 }
    guard reasons.isEmpty else { throw BenchmarkFailure("the service ended by itself: \(reasons)") }
  }

  /// The topics it needs, under a prefix.
  static func topics(prefix: String) -> [(name: String, plan: TopicPlan)] {
    let definition = S.definition
    return Set(definition.inputs + definition.outputs + [definition.changelog, .deadLetters]).map {
      (TopicNames(prefix: prefix)($0), TopicPlan($0))
    }
  }
}

extension MeasuredService where S == PassThroughStage {
  /// The pass-through stage.
  convenience init(
    _ broker: BenchmarkBroker, prefix: String, stateDirectory: String, batch: Int, transactions: String = "auto"
  ) throws {
    try self.init(
      broker, prefix: prefix, stateDirectory: stateDirectory, batch: batch, transactions: transactions
    ) { PassThroughStage(probe: $0) }
  }
}
