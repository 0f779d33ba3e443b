import Analyzer
import Dispatcher
import Ingest
import NudgeSchema
import ServiceKit
import StreamRuntime

/// The role whose access rules are checked.
enum DoctorRole: String, CaseIterable, SettingValue {
  /// On call, reading only.
  case oncall
  /// On call, with replays.
  case replay
  case ingest
  case analyzer
  case dispatcher

  /// Whether the pipeline is checked too; a service's user may lack the rights for it.
  var looks: Bool { self == .oncall || self == .replay }

  /// Access the role needs.
  func rules(_ topics: TopicNames) -> [AccessRule] {
    switch self {
    case .oncall: AccessRule.rulesOfLooking(at: DoctorChecks.stages, topics: topics)
    case .replay: Self.oncall.rules(topics) + AccessRule.rulesOfReplaying(topics: topics)
    case .ingest: AccessRule.rules(of: IngestStage.definition, topics: topics)
    case .analyzer: AccessRule.rules(of: AnalyzerStage.definition, topics: topics)
    case .dispatcher: AccessRule.rules(of: DispatcherStage.definition, topics: topics)
    }
  }
}
