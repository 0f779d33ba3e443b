/// Brings the user to a conversation, and to a message in it, from a link or a tap on a notification or banner.
///
/// A link may come before the app is ready for it (just launched, nobody signed in yet): it is then held, and used
/// once. Of several the last counts. It decides in the call itself, so routing takes no time but the app's own.
public struct Router: Sendable {
  /// What the app does next, in the order given.
  public enum Action: Sendable, Equatable {
    /// Load the list of conversations unless that is under way, then call `listLoaded()`.
    case loadList
    /// Show the conversation, then call `opened(_:)`, or `unavailable(_:)` if it is gone or closed to the user.
    case open(conversationId: String)
    /// Scroll to the message, fetching it if needed, then call `scrolled(to:)`.
    case scroll(messageId: String)
    /// Highlight the message.
    case highlight(messageId: String, Highlight)
    /// Tell the user in this text, and stay on the list.
    case tell(String)
  }

  /// How a message is highlighted once it is on the screen, in seconds.
  public struct Highlight: Sendable, Equatable {
    /// To appear.
    public let fadeIn: Double
    /// To stay.
    public let hold: Double
    /// To go.
    public let fadeOut: Double

    /// 0.5 s in, 1 s, 0.5 s out.
    public static let standard = Highlight(fadeIn: 0.5, hold: 1, fadeOut: 0.5)
  }

  private enum Progress {
    case idle
    /// Held until the app is ready and the list is there.
    case waiting(Route)
    case opening(Route)
    case scrolling(messageId: String)
  }

  private var isReady = false
  private var isListLoaded = false
  private var progress = Progress.idle

  /// A router of an app that was just launched.
  public init() {}

  /// A route that waits for the app to be ready, if there is one.
  public var pending: Route? {
    if case .waiting(let route) = progress { route } else { nil }
  }

  /// A link or a tap has arrived, whether the app was closed, in the background or active.
  public mutating func receive(_ route: Route) -> [Action] {
    progress = .waiting(route)
    return advance()
  }

  /// Somebody is signed in and the app can show something.
  public mutating func ready() -> [Action] {
    isReady = true
    return advance()
  }

  /// The list of conversations is there.
  public mutating func listLoaded() -> [Action] {
    isListLoaded = true
    guard isReady, case .waiting(let route) = progress else { return [] }
    return open(route)
  }

  /// The conversation is on the screen.
  public mutating func opened(_ conversationId: String) -> [Action] {
    guard case .opening(let route) = progress, route.conversationId == conversationId else { return [] }
    guard let messageId = route.messageId else {
      progress = .idle
      return []
    }
    progress = .scrolling(messageId: messageId)
    return [.scroll(messageId: messageId)]
  }

  /// The conversation is gone, or the user is no member any more.
  public mutating func unavailable(_ conversationId: String) -> [Action] {
    guard case .opening(let route) = progress, route.conversationId == conversationId else { return [] }
    progress = .idle
    return [.tell("This conversation is no longer available")]
  }

  /// The message is on the screen.
  public mutating func scrolled(to messageId: String) -> [Action] {
    guard case .scrolling(messageId) = progress else { return [] }
    progress = .idle
    return [.highlight(messageId: messageId, .standard)]
  }

  /// The user has signed out: a route that waits was theirs, and is dropped.
  public mutating func signedOut() {
    self = Router()
  }

  private mutating func advance() -> [Action] {
    guard isReady, case .waiting(let route) = progress else { return [] }
    return isListLoaded ? open(route) : [.loadList]
  }

  private mutating func open(_ route: Route) -> [Action] {
    progress = .opening(route)
    return [.open(conversationId: route.conversationId)]
  }
}
