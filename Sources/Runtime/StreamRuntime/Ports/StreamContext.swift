import NudgeSchema
import ServiceKit

/// What all pieces of a stream thread work with.
struct StreamContext<IO: StreamIO> {
  let io: IO
  let topics: TopicNames
  let partitionCounts: [Topic: Int32]
  let limits: StreamLimits
  /// Names this thread's life in position records, which add that of the task.
  let writer: String
  /// nil: nobody records traces.
  let spans: (any SpanRecorder)?
  let observe: (StreamEvent) -> Void
  let coder = RecordCoder()
}

/// Why a stream thread ended. Thrown where it must not go on.
enum StreamExit: Error, Equatable {
  /// It was asked to stop, and drained.
  case stopped
  /// Somebody else runs under this name.
  case fenced
  /// Going on would be wrong; the reason is for people.
  case failed(String)
}
