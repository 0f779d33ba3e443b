import NudgeSchema
import StreamRuntime

/// Counts events with fields that were ignored. Changes of a conversation leave no other record of it.
enum IgnoredTally {
  static let all = CosmeticField.allCases.map { field in
    StageTally(
      "nudge_ingest_ignored_fields_total",
      help: "Events with a field that was ignored because its value does not fit, by the kind of field.",
      labels: ["field": field.rawValue])
  }

  static func count(_ ignored: IgnoredFields, in step: Step<IngestStage>) {
    for (place, field) in CosmeticField.allCases.enumerated() where ignored.kinds.contains(field) { step.count(place) }
  }
}

extension IgnoredFields {
  /// As a header of what is written of the event.
  var headers: [RecordHeaderField] { isEmpty ? [] : [RecordHeaderField(RecordHeader.ignored, description)] }
}
