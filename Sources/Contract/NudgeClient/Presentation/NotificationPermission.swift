/// Decides what an app does about the permission to show notifications (C8).
///
/// After sign-in the app explains its notifications, and then the system asks the user. While permission is denied, the
/// app forgets its token and shows a banner that leads to the system's settings. The user may change the permission
/// there at any time, so pass the system's status at each launch and whenever the app becomes active.
///
/// Report what happened, and take the actions that each call returns. The value does no I/O.
///
/// ```swift
/// var permission = NotificationPermission(status: .notDetermined)
/// perform(permission.signedIn())                          // [.explain]
/// perform(permission.explanationEnded(agreed: true))      // [.ask([.alert, .sound, .badge])]
/// perform(permission.answered(granted: true))             // [.register]
/// ```
public struct NotificationPermission: Sendable {
  /// The system's status. An app derives it from `UNAuthorizationStatus`; provisional and ephemeral are `authorized`.
  public enum Status: Sendable, Equatable {
    /// The system has not asked the user.
    case notDetermined
    /// The user denied permission, when asked or in the settings.
    case denied
    /// The user granted permission.
    case authorized
  }

  /// A permission to ask for.
  public enum Option: Sendable, Equatable {
    /// Show notifications.
    case alert
    /// Play a sound.
    case sound
    /// Set the number on the icon.
    case badge
  }

  /// A step that the app takes. Take the steps in the order given.
  public enum Action: Sendable, Equatable {
    /// Explain on a screen of the app why it sends notifications, then call `explanationEnded(agreed:)`.
    case explain
    /// Ask the system for permission, then call `answered(granted:)`.
    case ask([Option])
    /// Register for remote notifications, and pass FCM's token to `TokenUpload.tokenReceived(_:at:)`.
    case register
    /// Forget the token: `TokenUpload.permissionDenied(at:)`.
    case forgetToken
    /// Show this banner until `hideBanner`. Its button calls `bannerTapped()`.
    case showBanner(Banner)
    /// Hide the banner.
    case hideBanner
    /// Open the app's page in the system settings.
    case openSettings
  }

  /// The banner that leads a user without notifications to the settings.
  public struct Banner: Sendable, Equatable {
    /// The text.
    public let text: String
    /// The title of its button.
    public let button: String

    /// The banner in the language of `words`.
    public static func standard(_ words: Words = .device) -> Banner {
      Banner(text: words.enableNotifications, button: words.openSettings)
    }
  }

  /// The permissions that `Action.ask` names.
  public static let options: [Option] = [.alert, .sound, .badge]

  private enum Dialogue {
    case none
    case explaining
    case asking
    /// The user did not agree to be asked. The next launch explains again.
    case postponed
  }

  private let words: Words
  private var status: Status
  private var isSignedIn = false
  private var dialogue = Dialogue.none
  private var isBannerShown = false

  /// The state at launch. If a user is signed in already, call `signedIn()` next.
  /// - Parameters:
  ///   - status: The system's status.
  ///   - words: The texts of the banner.
  public init(status: Status, words: Words = .device) {
    self.words = words
    self.status = status
  }

  /// A user has signed in.
  public mutating func signedIn() -> [Action] {
    guard !isSignedIn else { return [] }
    isSignedIn = true
    return act()
  }

  /// The user has signed out.
  public mutating func signedOut() -> [Action] {
    isSignedIn = false
    // The app cannot close the system's dialogue.
    if case .explaining = dialogue { dialogue = .none }
    return hideBanner()
  }

  /// The user has read the explanation. With `agreed` the system asks them; otherwise the next launch explains again.
  public mutating func explanationEnded(agreed: Bool) -> [Action] {
    guard case .explaining = dialogue else { return [] }
    dialogue = agreed ? .asking : .postponed
    return agreed ? [.ask(Self.options)] : []
  }

  /// The user has answered the system's dialogue.
  public mutating func answered(granted: Bool) -> [Action] {
    guard case .asking = dialogue else { return [] }
    dialogue = .none
    status = granted ? .authorized : .denied
    return isSignedIn ? act() : []
  }

  /// The app became active, perhaps after the user changed the settings. `status` is the system's status now. While the
  /// system asks the user, the call does nothing: `answered(granted:)` brings the result.
  public mutating func becameActive(status: Status) -> [Action] {
    guard status != self.status else { return [] }
    if case .asking = dialogue { return [] }
    self.status = status
    return isSignedIn ? act() : []
  }

  /// The user tapped the banner's button.
  public func bannerTapped() -> [Action] { isBannerShown ? [.openSettings] : [] }

  private mutating func act() -> [Action] {
    switch status {
    case .notDetermined:
      guard case .none = dialogue else { return hideBanner() }
      dialogue = .explaining
      return hideBanner() + [.explain]
    case .authorized:
      return hideBanner() + [.register]
    case .denied:
      guard !isBannerShown else { return [.forgetToken] }
      isBannerShown = true
      return [.forgetToken, .showBanner(.standard(words))]
    }
  }

  private mutating func hideBanner() -> [Action] {
    guard isBannerShown else { return [] }
    isBannerShown = false
    return [.hideBanner]
  }
}
