import Analyzer
import Dispatcher
import Ingest
import NudgeSchema
import ServiceKit
import StreamRuntime

/// Whose access rules an examination looks for.
enum DoctorRole: String, CaseIterable, SettingValue {
  /// Who is on call, and looks.
  case oncall
  /// Who is on call, and replays.
  case replay
  case ingest
  case analyzer
  case dispatcher

  /// Whether the pipeline is looked at as well, which a service's user need not be allowed to.
  var looks: Bool { self == .oncall || self == .replay }

  /// What the role needs.
  func rules(_ topics: TopicNames) -> [AccessRule] {
    switch self {
    case .oncall: AccessRule.rulesOfLooking(at: Examination.stages, topics: topics)
    case .replay: Self.oncall.rules(topics) + AccessRule.rulesOfReplaying(topics: topics)
    case .ingest: AccessRule.rules(of: IngestStage.definition, topics: topics)
    case .analyzer: AccessRule.rules(of: AnalyzerStage.definition, topics: topics)
    case .dispatcher: AccessRule.rules(of: DispatcherStage.definition, topics: topics)
    }
  }
}
