import StreamRuntime
import Testing

@testable import Dispatcher

@Suite("The dispatcher's rows when tasks are split")
struct SplitTests {
  @Test("devices, lanes and overflows go with their person")
  func homes() throws {
    let device = DeviceKey(userId: "ann", deviceId: "phone")
    for key in [device.device, device.lane, device.overflow(3)] {
      #expect(try DispatcherRow.home(of: key) == .taskOf("ann"), "\(key)")
    }
    #expect(throws: StoreFailure.self) { try DispatcherRow.home(of: RowKey("x", "ann")) }
  }
}
