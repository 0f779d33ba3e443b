import NudgeSchema
import StreamRuntime

extension WaitingPush {
  /// What identifies the push and the device it goes to: the same after the task was lost and its rows, or its record, are read
  /// again.
  var effectKey: RowKey {
    RowKey(
      push.userId, target.deviceId, cause.topic, String(cause.partition), String(cause.offset), String(cause.index ?? 0)
    )
  }
}
