import NudgeSchema
import Synchronization

/// Reports to the analyzer on devices with a stream whose client answers banners (D22): the stream is open, or has ended.
///
/// A stream that breaks and comes back is no news: a device is reported once a minute while it has one, no more often than every
/// `again` however often it reconnects, and its end only where no other stream follows. So thousands of clients that lose their streams
/// together do not fill the topic.
final class StreamReports: Sendable {
  /// Reports of one call.
  static let batch = 500
  /// Bytes of a report, about.
  static let bytes = 400
  /// From one report of a device to the next, in milliseconds: reports hold for two minutes.
  static let renewal: Milliseconds = 60_000
  /// From one report to the next where its stream has been opened again: another instance may have reported its end.
  static let again: Milliseconds = 10_000
  /// How long an ended stream may be followed by another one.
  static let grace: Milliseconds = 5_000

  /// A device as its stream names it.
  struct Device: Hashable, Sendable {
    var userId: ExactText
    var deviceId: ExactText

    init(_ userId: String, _ deviceId: String) {
      (self.userId, self.deviceId) = (ExactText(userId), ExactText(deviceId))
    }
  }

  private struct Entry {
    /// Stands for the streams of this instance: another one's are not ended with them.
    let tab: String
    var open = 0
    /// When it was first found to have none open; nil: it has one.
    var endedAt: Milliseconds?
    /// When it was reported as open; nil: it was not.
    var reportedAt: Milliseconds?
    /// It was opened after that.
    var isOpenedAnew = false

    /// Whether it is to be reported, and as what; nil: not yet.
    func report(at now: Milliseconds) -> Bool? {
      guard let reportedAt else { return true }
      if let endedAt { return now - endedAt >= StreamReports.grace ? false : nil }
      return now - reportedAt >= (isOpenedAnew ? StreamReports.again : StreamReports.renewal) ? true : nil
    }
  }

  private let entries = Mutex<[Device: Entry]>([:])
  private let makeTab: @Sendable () -> String

  /// - Parameter tab: Makes ids that no other instance makes.
  init(tab: @escaping @Sendable () -> String) { makeTab = tab }

  /// A stream of the device is open.
  func opened(_ device: Device) {
    entries.withLock { entries in
      var entry = entries[device] ?? Entry(tab: makeTab())
      entry.open += 1
      (entry.endedAt, entry.isOpenedAnew) = (nil, true)
      entries[device] = entry
    }
  }

  /// One of its streams has ended.
  func ended(_ device: Device) {
    entries.withLock { entries in
      guard var entry = entries[device] else { return }
      entry.open -= 1
      // Nobody knows of a stream that was too short to be reported.
      entries[device] = entry.open == 0 && entry.reportedAt == nil ? nil : entry
    }
  }

  /// The reports that are due, at most `batch`; the others come with the next call. `now`: by a monotonic clock.
  func take(now: Milliseconds) -> [Activity] {
    entries.withLock { entries in
      var reports: [Activity] = []
      for (device, known) in entries {
        var entry = known
        if entry.open == 0, entry.endedAt == nil {
          entry.endedAt = now
          entries[device] = entry
        }
        guard let isOpen = entry.report(at: now) else { continue }
        if reports.count == Self.batch { break }
        reports.append(
          Activity(
            userId: device.userId.text, deviceId: device.deviceId.text, state: isOpen ? .idle : .background,
            tabId: entry.tab, live: isOpen))
        guard isOpen else {
          entries[device] = nil
          continue
        }
        entries[device]?.reportedAt = now
        entries[device]?.isOpenedAnew = false
      }
      return reports
    }
  }
}
