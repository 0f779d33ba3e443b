import Analyzer
import Dispatcher
import Ingest
import ServiceKit
import StreamRuntime

/// The stage a command is about.
enum StageName: String, CaseIterable, SettingValue {
  case ingest
  case analyzer
  case dispatcher

  /// What the stage reads and writes, and where its state is.
  var definition: StageDefinition {
    switch self {
    case .ingest: IngestStage.definition
    case .analyzer: AnalyzerStage.definition
    case .dispatcher: DispatcherStage.definition
    }
  }
}
