import NudgeSchema
import StreamRuntime

extension PushCancelled {
  /// `erased`: removes the rows of a deleted person's devices (D16). Their lanes are empty by then; a request in flight ends with its
  /// answer, which removes its lane.
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
