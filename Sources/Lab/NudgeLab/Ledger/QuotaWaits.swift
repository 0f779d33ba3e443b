import Dispatcher
import NudgeSchema
import StreamRuntime

/// Finds pushes that have no outcome only because they wait for FCM's quota, so that a load does not count them as missing. It does no I/O.
///
/// A push waits if the records show both:
/// - It is in a lane of the dispatcher's state, it is fresh, and the lane has no request in flight. A lost push is in no lane.
/// - The outcomes add up to the quota, or FCM answered 429 to the lane's first push. A push that is in a lane for another reason is missing.
struct QuotaWaits: Sendable {
  /// The quota that a push waits for.
  enum Quota: String, Sendable, CaseIterable, CodingKeyRepresentable, Codable {
    /// FCM's hourly limit of an Android device.
    case device
    /// FCM's quota of a project.
    case project
    /// FCM answered 429 to the lane's first push.
    case refused

    /// The words after the number of such pushes.
    var words: String {
      switch self {
      case .device: "for FCM's hourly limit of an Android device"
      case .project: "for FCM's quota of the project"
      case .refused: "after FCM's 429"
      }
    }
  }

  /// The dispatcher's limits.
  struct Limits: Sendable, Equatable {
    /// The most requests an hour to one Android device; 0 for no limit.
    var perDeviceAndHour = DispatcherRules().deviceRequestsPerHour
    /// The most requests a minute to a project.
    var perProjectAndMinute = 600_000
    /// The partitions of `nudge.pushes`. A stream thread's share of a project's quota is at least one part in this many.
    var partitions = 1
  }

  /// A delivery: a push and one of its devices.
  struct Place: Hashable, Sendable {
    var pushId: String
    var deviceId: String
  }

  private static let bucket: Milliseconds = 10_000
  /// How long a request counts against a device's hourly limit. The dispatcher estimates the last hour from two clock hours.
  private static let deviceWindow: Milliseconds = 2 * 3_600_000
  private static let projectWindow: Milliseconds = 60_000

  var limits = Limits()
  private var lanes = LaneView(userId: "")
  private var androidDevices: Set<String> = []
  /// Requests by `bucket` of time, for each Android device and for all devices.
  private var ofDevice: [String: [Milliseconds: Int]] = [:]
  private var ofAll: [Milliseconds: Int] = [:]

  init() {}

  // MARK: Records read

  mutating func register(deviceId: String, platform: Platform) {
    if platform == .android { androidDevices.insert(deviceId) }
  }

  /// Adds the requests of a push that has ended.
  mutating func ended(deviceId: String, requests: Int, at time: Milliseconds) {
    guard requests > 0 else { return }
    let bucket = time / Self.bucket
    ofAll[bucket, default: 0] += requests
    if androidDevices.contains(deviceId) { ofDevice[deviceId, default: [:]][bucket, default: 0] += requests }
  }

  /// Adds a row of the dispatcher's changelog. A nil value means that the row was removed.
  mutating func row(_ key: RowKey, _ value: UnsafeRawBufferPointer?, coder: RecordCoder) throws {
    try lanes.take(key, value, coder: coder)
  }

  // MARK: Waiting pushes

  /// The pushes that wait for quota at a time.
  func waiting(at now: Milliseconds) -> [Place: Quota] {
    let isProjectUsedUp =
      requests(ofAll, since: now - Self.projectWindow) * 2 * max(limits.partitions, 1) >= limits.perProjectAndMinute
    var found: [Place: Quota] = [:]
    for (deviceId, lane) in Dictionary(grouping: lanes.waiting, by: \.deviceId) {
      // No push of a lane may be sent before the lane's first.
      guard let first = lane.first, !first.isInAir else { continue }
      let quota: Quota
      if isUsedUp(deviceId, byLane: lane.reduce(0) { $0 + $1.attempts }, at: now) {
        quota = .device
      } else if first.httpStatus == 429 {
        quota = .refused
      } else if isProjectUsedUp {
        quota = .project
      } else {
        continue
      }
      for item in lane where item.expiresAt > now { found[Place(pushId: item.pushId, deviceId: deviceId)] = quota }
    }
    return found
  }

  private func isUsedUp(_ deviceId: String, byLane: Int, at now: Milliseconds) -> Bool {
    guard limits.perDeviceAndHour > 0, androidDevices.contains(deviceId) else { return false }
    let ended = requests(ofDevice[deviceId] ?? [:], since: now - Self.deviceWindow)
    return ended + byLane >= limits.perDeviceAndHour
  }

  private func requests(_ buckets: [Milliseconds: Int], since: Milliseconds) -> Int {
    buckets.reduce(0) { $1.key >= since / Self.bucket ? $0 + $1.value : $0 }
  }
}
