import NudgeSchema
import ServiceKit

/// The shared context of a stream thread's parts.
struct StreamContext<IO: StreamIO> {
  let io: IO
  let topics: TopicNames
  let partitionCounts: [Topic: Int32]
  let limits: StreamLimits
  /// Identifies this thread in position records, which add the epoch of the task.
  let writer: String
  /// nil: traces are not recorded.
  let spans: (any SpanRecorder)?
  let observe: (StreamEvent) -> Void
  let coder = RecordCoder()
}

/// What surrounds a stage in its process: where its policy comes from, and where its statistics go.
struct StageSurroundings<S: Stage> {
  /// The policy in force, asked for once a turn; nil: the stage's own, for good.
  var policy: (() -> S.Policy)?
  /// Shows the statistics of the stage; nil: nobody does.
  var show: ((S.Statistics) -> Void)?
}

/// Why a stream thread ended. Thrown to end it.
enum StreamExit: Error, Equatable {
  /// It stopped on request, after draining.
  case stopped
  /// Another process has its transactional id or group instance id.
  case fenced
  /// It cannot continue. The reason is for operators.
  case failed(String)
}
