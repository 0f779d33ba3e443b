import NudgeSchema
import StreamRuntime

extension PushCancelled {
  /// `erased`: removes what is kept of a deleted person's devices (D16). Their lanes were emptied before; a request that is in the air
  /// ends by its answer, and its lane goes with it.
  func eraseDevices(in step: Step<DispatcherStage>) throws {
    guard erased == true else { return }
    var after: RowKey?
    repeat {
      let page = try step.keys(below: RowKey("d", userId), after: after, limit: 500)
      for key in page.keys { try step.remove(key) }
      after = page.next
    } while after != nil
  }
}
