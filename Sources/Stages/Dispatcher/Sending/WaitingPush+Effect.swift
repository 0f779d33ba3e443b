import NudgeSchema
import StreamRuntime

extension WaitingPush {
  /// Identifies a push and its device. It is the same after the task was lost and its rows, or its record, are read again, also in another
  /// process.
  struct EffectKey: Equatable {
    var userId: String
    var deviceId: String
    var pushId: String
    /// The push's own origin.
    var cause: Origin

    init(userId: String, deviceId: String, pushId: String, cause: Origin) {
      (self.userId, self.deviceId, self.pushId, self.cause) = (userId, deviceId, pushId, cause)
    }

    /// Nil: the key is none of `rowKey`.
    init?(_ key: RowKey) {
      let parts = key.parts
      guard parts.count == 8, let partition = Int32(parts[4]), let offset = Int64(parts[5]),
        let index = Int32(parts[6]), let generation = Int32(parts[7])
      else { return nil }
      self.init(
        userId: parts[0], deviceId: parts[1], pushId: parts[2],
        cause: Origin(
          topic: parts[3], partition: partition, offset: offset, index: index == 0 ? nil : index,
          generation: generation == 0 ? nil : generation))
    }

    var rowKey: RowKey {
      RowKey(
        userId, deviceId, pushId, cause.topic, String(cause.partition), String(cause.offset), String(cause.index ?? 0),
        String(cause.generation ?? 0))
    }
  }

  /// Identifies the effect of this push over the assignments of its task.
  var effectKey: RowKey {
    EffectKey(userId: push.userId, deviceId: target.deviceId, pushId: push.pushId, cause: cause).rowKey
  }
}
