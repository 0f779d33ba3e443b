/// How a notification is shown. An app turns it into `UNNotificationPresentationOptions`, whose names these are.
public struct PresentationOptions: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: UInt8

  /// Options from their bits.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// A banner on top of the screen.
  public static let banner = PresentationOptions(rawValue: 1)
  /// An entry in the notification list.
  public static let list = PresentationOptions(rawValue: 2)
  /// The sound.
  public static let sound = PresentationOptions(rawValue: 4)
  /// The number on the app's icon.
  public static let badge = PresentationOptions(rawValue: 8)
}

extension PushPayload.Priority {
  /// How a message of this priority is shown while the app is in the foreground.
  public var foreground: PresentationOptions {
    switch self {
    case .high: [.banner, .sound, .badge]
    case .medium: [.list, .badge]
    case .low: [.badge]
    }
  }

  /// How a message of this priority is shown while the app is in the background or not running.
  public var background: PresentationOptions {
    switch self {
    case .high: [.banner, .list, .sound, .badge]
    case .medium: [.list, .badge]
    case .low: [.badge]
    }
  }
}
