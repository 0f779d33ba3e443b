/// How the system presents a notification. The names are those of `UNNotificationPresentationOptions`, into which an app
/// turns them.
///
/// ```swift
/// let pairs: [(PresentationOptions, UNNotificationPresentationOptions)] =
///   [(.banner, .banner), (.list, .list), (.sound, .sound), (.badge, .badge)]
/// completionHandler(pairs.filter { options.contains($0.0) }.reduce(into: []) { $0.insert($1.1) })
/// ```
public struct PresentationOptions: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: UInt8

  /// Options from their bits.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// A banner at the top of the screen.
  public static let banner = PresentationOptions(rawValue: 1)
  /// An entry in the notification list.
  public static let list = PresentationOptions(rawValue: 2)
  /// The notification sound.
  public static let sound = PresentationOptions(rawValue: 4)
  /// The number on the app's icon.
  public static let badge = PresentationOptions(rawValue: 8)
}

extension PushPayload.Presentation {
  /// The options while the app is in the foreground. ``NotificationPresenter`` adds a banner to a silent message where no real-time
  /// channel brings one.
  public var foreground: PresentationOptions {
    switch self {
    case .alert: [.banner, .sound, .badge]
    case .silent: [.list, .badge]
    case .badge: [.badge]
    }
  }

  /// The options while the app is in the background or not running.
  public var background: PresentationOptions {
    switch self {
    case .alert: [.banner, .list, .sound, .badge]
    case .silent: [.list, .badge]
    case .badge: [.badge]
    }
  }
}
