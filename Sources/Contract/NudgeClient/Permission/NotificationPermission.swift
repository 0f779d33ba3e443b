/// The permission to notify, from the first launch on (C8): explained and asked for after sign-in, looked at again at each
/// launch and each return to the app. Where it is denied, nothing is registered and no token is kept, and a banner says
/// where to change that.
///
/// It does no I/O: calls in, actions out.
public struct NotificationPermission: Sendable {
  /// What the system says; an app makes it from `UNAuthorizationStatus` (provisional and ephemeral are `authorized`).
  public enum Status: Sendable, Equatable {
    /// The user was never asked.
    case notDetermined
    /// The user said no, then or in the settings.
    case denied
    /// The user said yes.
    case authorized
  }

  /// What is asked for.
  public enum Option: Sendable, Equatable {
    /// To show notifications.
    case alert
    /// To play a sound.
    case sound
    /// To set the number on the icon.
    case badge
  }

  /// What the app does next, in the order given.
  public enum Action: Sendable, Equatable {
    /// Explain in a screen of the app's own what notifications are for, then call `explanationEnded(agreed:)`.
    case explain
    /// Ask the system, then call `answered(_:)`.
    case ask([Option])
    /// Register for remote notifications; FCM's token then goes to `TokenUpload.tokenReceived(_:at:)`.
    case register
    /// Register nothing, and keep no token: `TokenUpload.permissionDenied(at:)`.
    case forgetToken
    /// Show this banner until `hideBanner`; its button calls `bannerTapped()`.
    case showBanner(Banner)
    /// Take the banner away.
    case hideBanner
    /// Open the app's page in the system's settings.
    case openSettings
  }

  /// What tells a user without notifications where to enable them.
  public struct Banner: Sendable, Equatable {
    /// The text.
    public let text: String
    /// What is written on its button.
    public let button: String

    /// The one banner there is.
    public static let standard = Banner(
      text: "Enable notifications in Settings to stay updated", button: "Open Settings")
  }

  /// What is asked for, all at once.
  public static let options: [Option] = [.alert, .sound, .badge]

  private enum Dialogue {
    case none
    case explaining
    case asking
    /// The user wants to decide later: at the next launch.
    case postponed
  }

  private var status: Status
  private var isSignedIn = false
  private var dialogue = Dialogue.none
  private var isBannerShown = false

  /// At launch, with what the system says then.
  public init(status: Status) {
    self.status = status
  }

  /// Somebody is signed in.
  public mutating func signedIn() -> [Action] {
    guard !isSignedIn else { return [] }
    isSignedIn = true
    return act()
  }

  /// Nobody is signed in any more.
  public mutating func signedOut() -> [Action] {
    isSignedIn = false
    // The system's dialogue stays until it is answered.
    if case .explaining = dialogue { dialogue = .none }
    return hideBanner()
  }

  /// The user has read the explanation, and wants to be asked (`agreed`) or not now.
  public mutating func explanationEnded(agreed: Bool) -> [Action] {
    guard case .explaining = dialogue else { return [] }
    dialogue = agreed ? .asking : .postponed
    return agreed ? [.ask(Self.options)] : []
  }

  /// The user has answered the system's question.
  public mutating func answered(granted: Bool) -> [Action] {
    guard case .asking = dialogue else { return [] }
    dialogue = .none
    status = granted ? .authorized : .denied
    return isSignedIn ? act() : []
  }

  /// The app is in front of the user again, perhaps after they were in the settings: what the system says now.
  public mutating func becameActive(status: Status) -> [Action] {
    guard status != self.status else { return [] }
    if case .asking = dialogue { return [] }
    self.status = status
    return isSignedIn ? act() : []
  }

  /// The banner's button was tapped.
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
      return [.forgetToken, .showBanner(.standard)]
    }
  }

  private mutating func hideBanner() -> [Action] {
    guard isBannerShown else { return [] }
    isBannerShown = false
    return [.hideBanner]
  }
}
