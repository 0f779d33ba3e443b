import NudgeSchema
import StreamRuntime

extension WaitingPush {
  /// Identifies the push and its device. The key is the same after the task was lost and its rows, or its record, are read again.
  var effectKey: RowKey {
    RowKey(
      push.userId, target.deviceId, cause.topic, String(cause.partition), String(cause.offset), String(cause.index ?? 0)
    )
  }
}
