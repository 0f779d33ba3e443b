import NudgeSchema
import Synchronization

/// Reports to the analyzer about devices with a stream whose client answers banners (D22): the stream is open, or has ended.
///
/// A stream that breaks and is opened again is not reported. A device with a stream is reported once a minute, and at most every `again`
/// however often it reconnects. The end is reported only if no other stream follows. So thousands of clients that lose their streams
/// together do not fill the topic.
final class StreamReports: Sendable {
  /// The most reports of one call.
  static let batch = 500
  /// The approximate bytes of a report.
  static let bytes = 400
  /// The time between two reports about a device, in milliseconds. A report is valid for two minutes.
  static let renewal: Milliseconds = 60_000
  /// The time between two reports if its stream was opened again, in milliseconds, because another instance may have reported its end.
  static let again: Milliseconds = 10_000
  /// How long another stream may follow one that ended, in milliseconds.
  static let grace: Milliseconds = 5_000

  /// A device as named by its stream.
  struct Device: Hashable, Sendable {
    var userId: ExactText
    var deviceId: ExactText

    init(_ userId: String, _ deviceId: String) {
      (self.userId, self.deviceId) = (ExactText(userId), ExactText(deviceId))
    }
  }

  private struct Entry {
    /// Represents the streams of this instance, so that their end does not end another instance's.
    let tab: String
    var open = 0
    /// When it was first found to have no open stream; nil if it has one.
    var endedAt: Milliseconds?
    /// When it was last reported as open; nil if it was not.
    var reportedAt: Milliseconds?
    /// Whether it was opened again since then.
    var isOpenedAnew = false

    /// What to report now; nil if nothing is due.
    func report(at now: Milliseconds) -> Bool? {
      guard let reportedAt else { return true }
      if let endedAt { return now - endedAt >= StreamReports.grace ? false : nil }
      return now - reportedAt >= (isOpenedAnew ? StreamReports.again : StreamReports.renewal) ? true : nil
    }
  }

  private let entries = Mutex<[Device: Entry]>([:])
  private let makeTab: @Sendable () -> String

  /// - Parameter tab: Creates ids that no other instance creates.
  init(tab: @escaping @Sendable () -> String) { makeTab = tab }

  /// The device has an open stream.
  func opened(_ device: Device) {
    entries.withLock { entries in
      var entry = entries[device] ?? Entry(tab: makeTab())
      entry.open += 1
      (entry.endedAt, entry.isOpenedAnew) = (nil, true)
      entries[device] = entry
    }
  }

  /// One of the device's streams has ended.
  func ended(_ device: Device) {
    entries.withLock { entries in
      guard var entry = entries[device] else { return }
      entry.open -= 1
      // A stream that was too short to be reported needs no end.
      entries[device] = entry.open == 0 && entry.reportedAt == nil ? nil : entry
    }
  }

  /// The reports that are due, at most `batch`; the others follow with the next call. `now` is on a monotonic clock.
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
