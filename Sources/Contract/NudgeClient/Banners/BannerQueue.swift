/// The banners of an app in the foreground (C4): one at a time for four seconds, while others wait.
///
/// It has no timer and no view: events in, actions out. Times are seconds on any clock that never goes backwards.
///
/// ```swift
/// var banners = BannerQueue()
/// if presenter.admits(banner) { perform(banners.receive(.message(banner), at: clock.seconds)) }
///
/// func perform(_ actions: [BannerQueue.Action]) {
///   for action in actions {
///     switch action {
///     case .show(let item):
///       bannerView.show(item)
///       // Where the stream was opened with answers=true: its push is not sent then.
///       if case .message(let banner) = item { perform(receipts.shown(banner, deviceId: deviceId, at: Date())) }
///     case .hide(let item): bannerView.hide(item)
///     case .notify(let banner): addNotification(of: banner)  // silent, with NotificationId.message(_:in:) as its id
///     case .wake(let time): timer.schedule(at: time) { perform(banners.timeReached(at: clock.seconds)) }
///     case .cancelWake: timer.cancel()
///     case .route(let route): perform(router.receive(route, at: Date()))
///     }
///   }
/// }
/// ```
public struct BannerQueue: Sendable {
  /// The content of a banner.
  public enum Item: Sendable, Equatable {
    /// A message.
    case message(InAppBanner)
    /// A notice from the services, which leads nowhere.
    case notice(InAppNotice)

    private var identity: (isMessage: Bool, id: String) {
      switch self {
      // Message ids are unique within their conversation only.
      case .message(let banner): (true, NotificationId.message(banner.messageId, in: banner.conversationId))
      case .notice(let notice): (false, notice.noticeId)
      }
    }

    func isSame(as other: Item) -> Bool { identity == other.identity }

    /// The message; nil for a notice.
    var banner: InAppBanner? {
      if case .message(let banner) = self { banner } else { nil }
    }

    var conversationId: String? { banner?.conversationId }

    var route: Route? { banner?.route }
  }

  /// A step that the app takes. Take the steps in the order given.
  public enum Action: Sendable, Equatable {
    /// Show the banner. If its message is already shown, the new text replaces the old one.
    case show(Item)
    /// Hide the banner.
    case hide(Item)
    /// Add a notification of this message to the list, without a sound. Its banner was never shown, and the presenter
    /// drops its push as a repeat. Use the id `NotificationId.message(_:in:)`, so that a push which the system shows by
    /// itself replaces the notification.
    case notify(InAppBanner)
    /// Call `timeReached(at:)` at this time. A later `wake` replaces it.
    case wake(at: Double)
    /// Cancel the call of `timeReached(at:)`.
    case cancelWake
    /// Follow this route.
    case route(Route)
  }

  /// How long a banner stays, in seconds from its appearance. The time stops while a finger touches the banner.
  public static let duration = 4.0
  /// How many banners may wait. One more drops the oldest of them.
  public static let maximumWaiting = 3
  /// How far up, in points, a swipe must go to dismiss a banner.
  public static let swipeDistance = 50.0

  private struct Showing {
    let item: Item
    /// The seconds left at `since`.
    var remaining: Double
    /// When the time began to run; nil while a finger touches the banner.
    var since: Double?
  }

  private var showing: Showing?
  private var waiting: [Item] = []
  private var isForeground: Bool
  private var openConversationId: String?

  /// An empty queue.
  public init(isForeground: Bool = true, openConversationId: String? = nil) {
    self.isForeground = isForeground
    self.openConversationId = openConversationId
  }

  /// A banner has arrived. Ask `NotificationPresenter.admits(_:)` first, because it knows which messages came as a
  /// push.
  public mutating func receive(_ item: Item, at now: Double) -> [Action] {
    guard isForeground, item.conversationId == nil || item.conversationId != openConversationId,
      showing?.item.isSame(as: item) != true, !waiting.contains(where: { $0.isSame(as: item) })
    else { return [] }
    waiting.append(item)
    if showing == nil { return showNext(at: now) }
    if waiting.count > Self.maximumWaiting { waiting.removeFirst() }
    return []
  }

  /// The time of the last `wake` has come. An early call, or one for a banner that is already hidden, is harmless.
  public mutating func timeReached(at now: Double) -> [Action] {
    guard let showing, let since = showing.since else { return [] }
    let end = since + showing.remaining
    return now >= end ? hideShowing(at: now) : [.wake(at: end)]
  }

  /// A finger touches the banner.
  public mutating func touchBegan(at now: Double) -> [Action] {
    guard let since = showing?.since else { return [] }
    showing?.remaining -= max(0, now - since)
    showing?.since = nil
    return [.cancelWake]
  }

  /// The finger is lifted after it moved up by this many points; negative means down. A swipe of `swipeDistance` dismisses
  /// the banner; otherwise its time runs again.
  public mutating func touchEnded(movedUp points: Double, at now: Double) -> [Action] {
    guard let touched = showing, touched.since == nil else { return [] }
    guard points < Self.swipeDistance else { return hideShowing(at: now) }
    showing?.since = now
    return [.wake(at: now + max(0, touched.remaining))]
  }

  /// The user dismisses the banner, as by its X. Nothing is opened, and the next one appears.
  public mutating func dismissed(at now: Double) -> [Action] { hideShowing(at: now) }

  /// The user taps the banner. It leads to its message, and waiting banners of the same conversation are dropped.
  public mutating func tapped(at now: Double) -> [Action] {
    guard let item = showing?.item else { return [] }
    if let conversationId = item.conversationId { waiting.removeAll { $0.conversationId == conversationId } }
    return (item.route.map { [.route($0)] } ?? []) + hideShowing(at: now)
  }

  /// A conversation is on the screen: drops its banners, and lets none in until it closes.
  public mutating func conversationOpened(_ conversationId: String, at now: Double) -> [Action] {
    openConversationId = conversationId
    return drop(at: now) { $0.conversationId == conversationId }
  }

  /// No conversation is on the screen.
  public mutating func conversationClosed() {
    openConversationId = nil
  }

  /// A conversation was read on another device: drops the banners that the mark covers.
  public mutating func conversationRead(_ mark: ReadMark, at now: Double) -> [Action] {
    let banners = ([showing?.item].compactMap(\.self) + waiting).compactMap(\.banner)
      .filter { $0.conversationId == mark.conversationId }
    let isCovered = mark.covers(banners.map { ReadMark.SentMessage(messageId: $0.messageId, sentAt: $0.sentAt) })
    let read = Set(zip(banners, isCovered).filter { $0.1 }.map { $0.0.messageId })
    return drop(at: now) { item in
      item.conversationId == mark.conversationId && item.banner.map { read.contains($0.messageId) } == true
    }
  }

  /// A message was edited: its banner shows the new text for the rest of its time.
  public mutating func messageUpdated(_ update: InAppUpdate, at now: Double) -> [Action] {
    func updated(_ item: Item) -> Item? {
      guard case .message(let banner) = item, banner.messageId == update.messageId,
        banner.conversationId == update.conversationId, banner.preview != update.preview
      else { return nil }
      return .message(banner.with(preview: update.preview))
    }
    waiting = waiting.map { updated($0) ?? $0 }
    guard let before = showing, let item = updated(before.item) else { return [] }
    showing = Showing(item: item, remaining: before.remaining, since: before.since)
    return [.show(item)]
  }

  /// A message was deleted: drops its banner.
  public mutating func messageDeleted(_ messageId: String, in conversationId: String, at now: Double) -> [Action] {
    drop(at: now) { $0.banner?.messageId == messageId && $0.conversationId == conversationId }
  }

  /// The app is in the foreground again. Messages that came in the background are in the notification list.
  public mutating func enteredForeground() {
    isForeground = true
  }

  /// The app went into the background: drops all banners. Messages whose banner waited become notifications.
  public mutating func enteredBackground() -> [Action] {
    isForeground = false
    let unseen = waiting
    return clear()
      + unseen.compactMap(\.banner).map { .notify($0) }
  }

  /// The user has signed out: drops all banners.
  public mutating func signedOut() -> [Action] {
    openConversationId = nil
    return clear()
  }

  private mutating func drop(at now: Double, where isDropped: (Item) -> Bool) -> [Action] {
    waiting.removeAll(where: isDropped)
    return showing.map { isDropped($0.item) } == true ? hideShowing(at: now) : []
  }

  private mutating func clear() -> [Action] {
    waiting = []
    guard let ended = showing else { return [] }
    showing = nil
    return [.hide(ended.item), .cancelWake]
  }

  private mutating func hideShowing(at now: Double) -> [Action] {
    guard let ended = showing else { return [] }
    showing = nil
    let next = showNext(at: now)
    return [.hide(ended.item)] + (next.isEmpty ? [.cancelWake] : next)
  }

  private mutating func showNext(at now: Double) -> [Action] {
    guard !waiting.isEmpty else { return [] }
    let item = waiting.removeFirst()
    showing = Showing(item: item, remaining: Self.duration, since: now)
    return [.show(item), .wake(at: now + Self.duration)]
  }
}
