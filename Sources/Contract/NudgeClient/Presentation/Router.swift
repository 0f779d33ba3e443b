public import Foundation

/// Brings the user to a conversation, and to a message in it, from a link or from a tap on a notification or banner (C3).
///
/// A link may arrive before the app is ready for it: just after launch, or with nobody signed in. The router holds the
/// link until then, and follows it once. A newer link replaces an older one.
///
/// Two limits keep the user from waiting for a slow network. The router waits for the list of conversations for
/// `routeLimit`, then opens the conversation without it. If the conversation and its message are not on the screen
/// `fetchLimit` later, the app shows the user a text. It may still open them afterwards.
///
/// ```swift
/// var router = Router()
/// perform(router.ready(at: Date()))                                     // somebody is signed in
/// perform(router.receive(DeepLink(url.absoluteString).route, at: Date()))
///
/// func perform(_ actions: [Router.Action]) {
///   for action in actions {
///     switch action {
///     case .loadList: loadList { perform(router.listLoaded(at: Date())) }
///     case .open(let id): show(id) { perform(router.opened(id, at: Date())) }
///     case .scroll(let id): scroll(to: id) { perform(router.scrolled(to: id)) }
///     case .highlight(let id, let highlight): animate(id, highlight)
///     case .tell(let text): toast(text)
///     case .wake(let time): timer.schedule(at: time) { perform(router.timeReached(at: Date())) }
///     case .cancelWake: timer.cancel()
///     }
///   }
/// }
/// ```
public struct Router: Sendable {
  /// A step that the app takes. Take the steps in the order given.
  public enum Action: Sendable, Equatable {
    /// Load the list of conversations, unless that is in progress, then call `listLoaded(at:)`.
    case loadList
    /// Show the conversation, then call `opened(_:at:)`. If it is gone or the user may not see it, call
    /// `unavailable(_:)`.
    case open(conversationId: String)
    /// Scroll to the message, fetching it if needed, then call `scrolled(to:)`.
    case scroll(messageId: String)
    /// Highlight the message.
    case highlight(messageId: String, Highlight)
    /// Show the user this text.
    case tell(String)
    /// Call `timeReached(at:)` at this time. A later `wake` replaces it.
    case wake(at: Date)
    /// Cancel the call of `timeReached(at:)`.
    case cancelWake
  }

  /// How to highlight a message on the screen, in seconds.
  public struct Highlight: Sendable, Equatable {
    /// The time to appear.
    public let fadeIn: Double
    /// The time to stay.
    public let hold: Double
    /// The time to disappear.
    public let fadeOut: Double

    /// 0.5 s in, 1 s, 0.5 s out.
    public static let standard = Highlight(fadeIn: 0.5, hold: 1, fadeOut: 0.5)
  }

  /// The longest wait for the list of conversations, in seconds. It begins when the app is ready and has a link.
  public static let routeLimit: TimeInterval = 0.5
  /// The seconds after which the user learns that the conversation or its message is not on the screen yet.
  public static let fetchLimit: TimeInterval = 2

  private enum Progress {
    case idle
    /// Held until the app is ready and the list is loaded.
    case waiting(Route)
    case opening(Route)
    case scrolling(messageId: String)
  }

  private let words: Words
  private var isReady = false
  private var isListLoaded = false
  private var progress = Progress.idle
  private var deadline: Date?

  /// A router of an app that was just launched. `words` has the texts in the user's language.
  public init(words: Words = .device) {
    self.words = words
  }

  /// The route that waits for the app to be ready, or for its list of conversations.
  public var pending: Route? {
    if case .waiting(let route) = progress { route } else { nil }
  }

  /// A link or a tap has arrived, whether the app was closed, in the background or active.
  public mutating func receive(_ route: Route, at now: Date) -> [Action] {
    progress = .waiting(route)
    return advance(at: now)
  }

  /// A user is signed in and the app can show a conversation.
  public mutating func ready(at now: Date) -> [Action] {
    isReady = true
    return advance(at: now)
  }

  /// The list of conversations is loaded.
  public mutating func listLoaded(at now: Date) -> [Action] {
    isListLoaded = true
    return advance(at: now)
  }

  /// The conversation is on the screen.
  public mutating func opened(_ conversationId: String, at now: Date) -> [Action] {
    guard case .opening(let route) = progress, route.conversationId == conversationId else { return [] }
    guard let messageId = route.messageId else { return end() }
    progress = .scrolling(messageId: messageId)
    // A conversation that opened in time shares its deadline with the message. One that was late gives the message a new deadline.
    return [.scroll(messageId: messageId)] + (deadline == nil ? wake(after: Self.fetchLimit, at: now) : [])
  }

  /// The conversation is gone, or the user is not a member any more.
  public mutating func unavailable(_ conversationId: String) -> [Action] {
    guard case .opening(let route) = progress, route.conversationId == conversationId else { return [] }
    return [.tell(words.conversationGone)] + end()
  }

  /// The message is on the screen.
  public mutating func scrolled(to messageId: String) -> [Action] {
    guard case .scrolling(messageId) = progress else { return [] }
    return [.highlight(messageId: messageId, .standard)] + end()
  }

  /// The time of the last `wake` has come. A call that is early or late is harmless.
  public mutating func timeReached(at now: Date) -> [Action] {
    guard let deadline else { return [] }
    guard now >= deadline else { return [.wake(at: deadline)] }
    self.deadline = nil
    switch progress {
    case .idle: return []
    case .waiting(let route): return open(route, at: now)
    case .opening: return [.tell(words.conversationNotLoaded)]
    case .scrolling: return [.tell(words.messageNotLoaded)]
    }
  }

  /// The user has signed out: drops their route.
  public mutating func signedOut() -> [Action] {
    let actions = end()
    self = Router(words: words)
    return actions
  }

  private mutating func advance(at now: Date) -> [Action] {
    guard isReady, case .waiting(let route) = progress else { return [] }
    return isListLoaded ? open(route, at: now) : [.loadList] + wake(after: Self.routeLimit, at: now)
  }

  private mutating func open(_ route: Route, at now: Date) -> [Action] {
    progress = .opening(route)
    return [.open(conversationId: route.conversationId)] + wake(after: Self.fetchLimit, at: now)
  }

  private mutating func wake(after seconds: TimeInterval, at now: Date) -> [Action] {
    let time = now.addingTimeInterval(seconds)
    deadline = time
    return [.wake(at: time)]
  }

  private mutating func end() -> [Action] {
    progress = .idle
    guard deadline != nil else { return [] }
    deadline = nil
    return [.cancelWake]
  }
}

/// A destination in the app.
public struct Route: Sendable, Equatable {
  /// The conversation to open.
  public let conversationId: String
  /// The message to scroll to; nil to stay where the conversation opens.
  public let messageId: String?

  /// A route to a conversation, or to a message in it.
  public init(conversationId: String, messageId: String? = nil) {
    self.conversationId = conversationId
    self.messageId = messageId
  }
}

/// A link into the app: `messageai://conversation/{id}`. An app may choose its own scheme.
///
/// ```swift
/// let link = try DeepLink(url.absoluteString, scheme: "acme-chat")
/// perform(router.receive(link.route, at: Date()))
/// let text = try DeepLink(conversationId: "c1").text()  // "messageai://conversation/c1"
/// ```
public struct DeepLink: Sendable, Equatable {
  /// Why a text is not a link of this app.
  public enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The text is not a URL, or has another scheme.
    case otherScheme
    /// The link leads to something other than a conversation.
    case unknownDestination
    /// The conversation id is missing, longer than 256 bytes, not UTF-8, or has control characters.
    case invalidConversationId

    /// One sentence, without the link.
    public var description: String {
      switch self {
      case .otherScheme: "the link does not have this app's scheme"
      case .unknownDestination: "the link does not lead to a conversation"
      case .invalidConversationId: "the link has no valid conversation id"
      }
    }
  }

  /// The scheme of an app that has not chosen another.
  public static let defaultScheme = "messageai"
  /// The longest id that Nudge accepts, in bytes of UTF-8.
  private static let maximumIdBytes = 256

  /// The conversation that the link leads to.
  public let conversationId: String

  /// A link to a conversation.
  /// - Throws: `Failure.invalidConversationId`.
  public init(conversationId: String) throws(Failure) {
    guard !conversationId.isEmpty, conversationId.utf8.count <= Self.maximumIdBytes,
      !conversationId.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else { throw .invalidConversationId }
    self.conversationId = conversationId
  }

  /// Parses the text of a link. Scheme and destination may be in capitals; a query and a fragment are ignored.
  public init(_ text: String, scheme: String = defaultScheme) throws(Failure) {
    guard let components = URLComponents(string: text), components.scheme?.lowercased() == scheme.lowercased() else {
      throw .otherScheme
    }
    guard components.host?.lowercased() == "conversation" else { throw .unknownDestination }
    var path = components.percentEncodedPath
    if path.hasPrefix("/") { path.removeFirst() }
    if path.hasSuffix("/") { path.removeLast() }
    // A slash within the id is percent-encoded. Any other slash means a destination that does not exist.
    guard !path.contains("/") else { throw .unknownDestination }
    guard let id = path.removingPercentEncoding else { throw .invalidConversationId }
    try self.init(conversationId: id)
  }

  /// The text of the link. It keeps ASCII letters, digits and `-._~` of the id, and percent-encodes all other bytes.
  public func text(scheme: String = defaultScheme) -> String {
    let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
    var text = "\(scheme)://conversation/"
    for byte in conversationId.utf8 {
      if unreserved.contains(byte) {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        text += byte < 0x10 ? "%0" : "%"
        text += String(byte, radix: 16, uppercase: true)
      }
    }
    return text
  }

  /// The route that the link leads to.
  public var route: Route { Route(conversationId: conversationId) }
}
