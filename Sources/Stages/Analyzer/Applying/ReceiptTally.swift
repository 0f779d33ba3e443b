import Foundation
import NudgeSchema
import StreamRuntime
import Synchronization

/// Counts pushes of messages by the state they reached, how long they took to arrive, and reports that count for nothing.
enum ReceiptTally {
  /// A push and device as the metric counts it.
  enum State: String, CaseIterable {
    /// The push was made for the device.
    case made
    case arrived
    case opened
    case dismissed
    case withdrawn
  }

  /// Why a report is not recorded.
  enum Ignored: String, CaseIterable {
    case unknownDevice = "unknown_device"
    case unknownPush = "unknown_push"
    /// More than a day after the push, or after a hundred later ones.
    case tooLate = "too_late"
    case repeated
  }

  /// Versions of the app with series of their own in a process: the first that it sees. Others are one series. Of one person's devices
  /// it takes few: nobody can use the series up alone.
  struct AppVersions: Sendable {
    static let limit = 32
    static let ofAPerson = 2
    private var known: [String] = []
    /// How many were seen first on a device of a person.
    private var firstSeen: [String: Int] = [:]

    /// Where a version is counted: from 2 on; 1: there are too many.
    mutating func slot(of version: String, on person: String) -> Int {
      if let index = known.firstIndex(of: version) { return index + 2 }
      guard known.count < Self.limit, firstSeen[person, default: 0] < Self.ofAPerson else { return 1 }
      firstSeen[person, default: 0] += 1
      known.append(version)
      return known.count + 1
    }

    func version(at slot: Int) -> String? { known.indices.contains(slot - 2) ? known[slot - 2] : nil }
  }

  private static let versions = Mutex(AppVersions())
  /// In a label: a version may have 64 characters.
  private static let versionCharacters = 32

  /// The tallies that do not depend on the app's version.
  static let fixed: [StageTally] =
    Ignored.allCases.map {
      StageTally(
        "nudge_receipts_ignored_total", help: "Reports about notifications that count for nothing, by reason.",
        labels: ["reason": $0.rawValue])
    }
    + Platform.allCases.flatMap { platform in
      (0..<arrivalSteps).map { step in
        StageTally(
          "nudge_arrival_seconds",
          help: "From a message, or from a later push of it, until a device had it, in seconds.",
          labels: ["platform": platform.rawValue],
          observation: .init(
            value: firstStep * pow(stepRatio, Double(step)),
            bounds: [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400]))
      }
    }

  /// Observed times are rounded to steps of a tenth, from 50 ms to more than a day.
  private static let (firstStep, stepRatio, arrivalSteps) = (0.05, 1.1, 152)
  private static let arrivalBase = DecisionTally.all.count + Ignored.allCases.count
  /// Where the counts of messages that are said again begin.
  static let escalationBase = DecisionTally.all.count + fixed.count
  private static let stateBase = escalationBase + EscalationTally.all.count

  static func place(_ ignored: Ignored) -> Int {
    DecisionTally.all.count + (Ignored.allCases.firstIndex(of: ignored) ?? 0)
  }

  static func place(arrivedAfter time: Milliseconds, on platform: Platform) -> Int {
    let seconds = max(Double(time) / 1_000, firstStep)
    let step = min(Int((log(seconds / firstStep) / log(stepRatio)).rounded()), arrivalSteps - 1)
    return arrivalBase + (Platform.allCases.firstIndex(of: platform) ?? 0) * arrivalSteps + step
  }

  static func place(_ state: State, on platform: Platform, appVersion: String?, of person: String) -> Int {
    let kinds = State.allCases.count * Platform.allCases.count
    let kind =
      (State.allCases.firstIndex(of: state) ?? 0) * Platform.allCases.count
      + (Platform.allCases.firstIndex(of: platform) ?? 0)
    return stateBase + slot(of: appVersion, person) * kinds + kind
  }

  /// 0: no version. 1: one of many. From 2 on: those that are known.
  private static func slot(of appVersion: String?, _ person: String) -> Int {
    guard let appVersion else { return 0 }
    return versions.withLock { $0.slot(of: appVersion, on: person) }
  }

  /// The tally of a state; nil: the place is of no state.
  static func later(_ place: Int) -> StageTally? {
    let (states, platforms) = (State.allCases, Platform.allCases)
    let number = place - stateBase
    guard number >= 0 else { return nil }
    let (slot, kind) = number.quotientAndRemainder(dividingBy: states.count * platforms.count)
    let version: String? =
      switch slot {
      case 0: "none"
      case 1: "other"
      default: versions.withLock { $0.version(at: slot) }
      }
    guard let version else { return nil }
    return StageTally(
      "nudge_push_states_total",
      help: "Pushes of messages, one a device, by the state they reached; made: the push was made for the device.",
      labels: [
        "state": states[kind / platforms.count].rawValue, "platform": platforms[kind % platforms.count].rawValue,
        "app_version": String(version.prefix(versionCharacters)),
      ])
  }
}

extension ReceiptState {
  var tally: ReceiptTally.State {
    switch self {
    case .arrived: .arrived
    case .opened: .opened
    case .dismissed: .dismissed
    case .withdrawn: .withdrawn
    }
  }
}
