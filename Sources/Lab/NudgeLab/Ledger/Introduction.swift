/// The devices and preferences that a load publishes before its messages, and how many of them have reached the timeline. What somebody publishes by
/// hand meanwhile is none of them.
struct Introduction: Sendable {
  private var devices: Set<String> = []
  private var people: Set<String> = []
  /// Devices, and people with preferences, that the timeline has shown.
  private(set) var seen = (devices: 0, preferences: 0)

  mutating func expectDevice(_ deviceId: String) { devices.insert(deviceId) }
  mutating func expectPreferences(of userId: String) { people.insert(userId) }

  /// A device's registration has reached the timeline.
  mutating func deviceRegistered(_ deviceId: String) { if devices.remove(deviceId) != nil { seen.devices += 1 } }

  /// A person's preferences have reached the timeline.
  mutating func preferencesUpdated(_ userId: String) { if people.remove(userId) != nil { seen.preferences += 1 } }
}
