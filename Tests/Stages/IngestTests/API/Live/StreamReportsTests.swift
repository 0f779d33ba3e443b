import NudgeSchema
import Synchronization
import TestSupport
import Testing

@testable import Ingest

@Suite("D22: streams are reported to the analyzer")
struct StreamReportsTests {
  private let phone = StreamReports.Device("ann", "phone")

  /// Tabs are named by their number.
  private func reports() -> StreamReports {
    let count = Mutex(0)
    return StreamReports {
      count.withLock { count in
        count += 1
        return "tab-\(count)"
      }
    }
  }

  private func activity(_ live: Bool, tab: Int = 1) -> Activity {
    Activity(userId: "ann", deviceId: "phone", state: live ? .idle : .background, tabId: "tab-\(tab)", live: live)
  }

  @Test("once when it opens, again each minute, and when it has ended")
  func once() {
    let reports = reports()
    reports.opened(phone)
    #expect(reports.take(now: 0) == [activity(true)])
    #expect(reports.take(now: 1_000).isEmpty && reports.take(now: 59_999).isEmpty)
    #expect(reports.take(now: 60_000) == [activity(true)])
    reports.ended(phone)
    #expect(reports.take(now: 61_000).isEmpty && reports.take(now: 65_999).isEmpty)
    #expect(reports.take(now: 66_000) == [activity(false)])
    #expect(reports.take(now: 1_000_000).isEmpty)
    reports.opened(phone)
    #expect(reports.take(now: 1_000_001) == [activity(true, tab: 2)])
  }

  @Test("a device with two streams has one as long as the other is open; one that ends at once is nobody's news")
  func several() {
    let reports = reports()
    reports.opened(phone)
    reports.opened(phone)
    #expect(reports.take(now: 0) == [activity(true)])
    reports.ended(phone)
    #expect(reports.take(now: 30_000).isEmpty)
    reports.ended(phone)
    #expect(reports.take(now: 40_000).isEmpty)
    #expect(reports.take(now: 45_000) == [activity(false)])
    reports.opened(phone)
    reports.ended(phone)
    #expect(reports.take(now: 50_000).isEmpty)
  }

  @Test("thousands of streams that flap for minutes are some reports a second, and all are right in the end")
  func flapping() {
    let reports = reports()
    let devices = (0..<5_000).map { StreamReports.Device("user-\($0)", "phone") }
    var random = SeededGenerator(seed: 7)
    var isOpen = [Bool](repeating: false, count: devices.count)
    var known: [String: Bool] = [:]
    var taken = 0
    func take(_ second: Int) {
      let batch = reports.take(now: Int64(second) * 1_000)
      #expect(batch.count <= StreamReports.batch)
      taken += batch.count
      for report in batch { known[report.userId] = report.live }
    }
    for second in 0..<120 {
      for index in devices.indices where random.below(2) == 0 {
        if isOpen[index] { reports.ended(devices[index]) } else { reports.opened(devices[index]) }
        isOpen[index].toggle()
      }
      take(second)
    }
    // 300,000 streams were opened or ended.
    #expect(taken <= 120 * StreamReports.batch && taken > 5_000)
    for second in 120..<250 { take(second) }
    for index in devices.indices { #expect(known["user-\(index)"] ?? false == isOpen[index], "user-\(index)") }
  }
}
