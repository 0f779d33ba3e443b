public import NudgeSchema
public import StreamRuntime

/// Ingest's metrics.
public enum IngestMetric: StageMetric {
  /// An event with a field that was ignored. Changes of a conversation leave no other record of it.
  case ignored(CosmeticField)

  public static let expected = CosmeticField.allCases.map(Self.ignored)

  public var series: StageSeries {
    switch self {
    case .ignored(let field):
      StageSeries(
        "nudge_ingest_ignored_fields_total",
        help: "Events with a field that was ignored because its value does not fit, by the kind of field.",
        labels: ["field": field.rawValue])
    }
  }
}

extension IgnoredFields {
  /// As a header of what is written of the event.
  var headers: [RecordHeaderField] { isEmpty ? [] : [RecordHeaderField(RecordHeader.ignored, description)] }

  /// Counts the event by each kind of field.
  func count(in step: Step<IngestStage>) {
    for field in CosmeticField.allCases where kinds.contains(field) { step.count(.ignored(field)) }
  }
}
