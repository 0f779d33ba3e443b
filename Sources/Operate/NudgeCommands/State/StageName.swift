import Analyzer
import Dispatcher
import Ingest
import ServiceKit
import StreamRuntime

/// A stage's name on the command line.
enum StageName: String, CaseIterable, SettingValue {
  case ingest
  case analyzer
  case dispatcher

  /// The stage's topics and state.
  var definition: StageDefinition {
    switch self {
    case .ingest: IngestStage.definition
    case .analyzer: AnalyzerStage.definition
    case .dispatcher: DispatcherStage.definition
    }
  }

  /// How the stage's tasks are split when partitions are added.
  var splitRules: SplitRules {
    switch self {
    case .ingest: IngestStage.splitRules
    case .analyzer: AnalyzerStage.splitRules
    case .dispatcher: DispatcherStage.splitRules
    }
  }
}
