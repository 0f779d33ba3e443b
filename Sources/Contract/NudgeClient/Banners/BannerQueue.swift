/// The banners of an app in the foreground: one at a time, for four seconds, the others wait.
///
/// It holds no timer and no view: events in, actions out. Times are seconds on any clock that does not go backwards.
public struct BannerQueue: Sendable {
  /// What the app does next, in the order given.
  public enum Action: Sendable, Equatable {
    /// Let the banner appear.
    case show(InAppBanner)
    /// Let the banner of this message disappear.
    case hide(messageId: String)
    /// Call `timeReached(at:)` at this time. There is one such time: a later one replaces it.
    case wake(at: Double)
    /// Do not call `timeReached(at:)`, unless another time is given.
    case cancelWake
    /// Go there.
    case route(Route)
  }

  /// How long a banner stays, in seconds from its appearance, not counting while it is touched.
  public static let duration = 4.0
  /// How many may wait; of more the oldest is dropped.
  public static let maximumWaiting = 3
  /// How far up, in points, a swipe must go to end a banner.
  public static let swipeDistance = 50.0

  private struct Showing {
    let banner: InAppBanner
    /// How long it has still to stay, as of `since`.
    var remaining: Double
    /// Since when its time runs; nil while it is touched.
    var since: Double?
  }

  private var showing: Showing?
  private var waiting: [InAppBanner] = []
  private var isForeground: Bool
  private var openConversationId: String?

  /// A queue with nothing in it.
  public init(isForeground: Bool = true, openConversationId: String? = nil) {
    self.isForeground = isForeground
    self.openConversationId = openConversationId
  }

  /// A banner has arrived. Ask `NotificationPresenter.admits(_:)` first, which knows what came as push.
  public mutating func receive(_ banner: InAppBanner, at now: Double) -> [Action] {
    guard isForeground, banner.conversationId != openConversationId,
      showing?.banner.messageId != banner.messageId, !waiting.contains(where: { $0.messageId == banner.messageId })
    else { return [] }
    waiting.append(banner)
    if showing == nil { return showNext(at: now) }
    if waiting.count > Self.maximumWaiting { waiting.removeFirst() }
    return []
  }

  /// The time of the last `wake` has come. Called too early or for a banner that has gone, it does no harm.
  public mutating func timeReached(at now: Double) -> [Action] {
    guard let showing, let since = showing.since else { return [] }
    let end = since + showing.remaining
    return now >= end ? endShowing(at: now) : [.wake(at: end)]
  }

  /// A finger is on the banner: its time stands still.
  public mutating func touchBegan(at now: Double) -> [Action] {
    guard let since = showing?.since else { return [] }
    showing?.remaining -= max(0, now - since)
    showing?.since = nil
    return [.cancelWake]
  }

  /// The finger has gone, after moving up by this many points (negative: down). Far enough ends the banner; else its
  /// time goes on.
  public mutating func touchEnded(movedUp points: Double, at now: Double) -> [Action] {
    guard let touched = showing, touched.since == nil else { return [] }
    guard points < Self.swipeDistance else { return endShowing(at: now) }
    showing?.since = now
    return [.wake(at: now + max(0, touched.remaining))]
  }

  /// The banner was tapped: it ends, with those that wait for the same conversation, and leads to its message.
  public mutating func tapped(at now: Double) -> [Action] {
    guard let banner = showing?.banner else { return [] }
    waiting.removeAll { $0.conversationId == banner.conversationId }
    return [.route(banner.route)] + endShowing(at: now)
  }

  /// A conversation is on the screen: its banners go, shown or waiting, and none comes while it is open.
  public mutating func conversationOpened(_ conversationId: String, at now: Double) -> [Action] {
    openConversationId = conversationId
    return drop(conversationId, at: now)
  }

  /// No conversation is on the screen.
  public mutating func conversationClosed() {
    openConversationId = nil
  }

  /// A conversation was read elsewhere: its banners go.
  public mutating func conversationRead(_ conversationId: String, at now: Double) -> [Action] {
    drop(conversationId, at: now)
  }

  /// The app is in the foreground again. What came meanwhile is in the notification list.
  public mutating func enteredForeground() {
    isForeground = true
  }

  /// The app went into the background: no banner, and none waits for its return.
  public mutating func enteredBackground() -> [Action] {
    isForeground = false
    return clear()
  }

  /// The user has signed out: nothing of theirs is shown any more.
  public mutating func signedOut() -> [Action] {
    openConversationId = nil
    return clear()
  }

  private mutating func drop(_ conversationId: String, at now: Double) -> [Action] {
    waiting.removeAll { $0.conversationId == conversationId }
    return showing?.banner.conversationId == conversationId ? endShowing(at: now) : []
  }

  private mutating func clear() -> [Action] {
    waiting = []
    guard let ended = showing else { return [] }
    showing = nil
    return [.hide(messageId: ended.banner.messageId), .cancelWake]
  }

  private mutating func endShowing(at now: Double) -> [Action] {
    guard let ended = showing else { return [] }
    showing = nil
    let next = showNext(at: now)
    return [.hide(messageId: ended.banner.messageId)] + (next.isEmpty ? [.cancelWake] : next)
  }

  private mutating func showNext(at now: Double) -> [Action] {
    guard !waiting.isEmpty else { return [] }
    let banner = waiting.removeFirst()
    showing = Showing(banner: banner, remaining: Self.duration, since: now)
    return [.show(banner), .wake(at: now + Self.duration)]
  }
}
