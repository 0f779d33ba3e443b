public import Foundation
public import NudgeClient

/// Simulates a phone, its owner, and an app that uses nothing of Nudge but `NudgeClient`. It takes inputs and the time of each, and returns
/// events to publish and observations.
///
/// It does no I/O and has no clock. The caller publishes the events and passes in the result of each, FCM's deliveries, and
/// `PhoneInput.time` when `nextWake` has come.
public struct VirtualPhone: Sendable {
  enum Timer: CaseIterable {
    case upload, activity, signOut, banner, routing, outbox, receipts
  }

  /// The seconds after which a failed event is published again.
  public static let outboxPause: TimeInterval = 5

  /// The installation, as the services know it.
  public internal(set) var device: Device
  /// FCM's registration token of the installation.
  public internal(set) var token: String
  /// The base URL of the push service that reaches the phone. The phone's token is then the name of a ``BrowserSubscription``. Absent for a
  /// phone that FCM reaches.
  public let pushService: String?
  /// The notifications that the owner sees without opening the app.
  public internal(set) var lockScreen = LockScreen()
  /// The number on the icon.
  public internal(set) var badge = 0
  /// The in-app banner. Absent while none is shown.
  public internal(set) var banner: BannerQueue.Item?
  /// The last text that the app showed its owner. Absent until it shows one.
  public internal(set) var lastWord: String?
  /// Whether the phone has a network.
  public internal(set) var isOnline = true
  /// Whether the app is in the foreground.
  public internal(set) var isForeground = false
  /// The conversation on the app's screen; visible only in the foreground.
  public internal(set) var conversationId: String?
  /// The catch-up that the app last showed as a list. Absent until it shows one.
  public internal(set) var catchUp: CatchUp?
  /// The number of pushes presented with a sound.
  public internal(set) var sounds = 0

  /// Whether the app answers the banners that it shows.
  let answersBanners: Bool
  let makeId: @Sendable () -> String
  /// The language of the app's own words.
  let words: Words
  var isAllowed: Bool
  var permission: NotificationPermission
  var upload: TokenUpload
  var activity: ActivityReporter
  var ending: SignOut
  var presenter: NotificationPresenter
  var banners = BannerQueue(isForeground: false)
  var router: Router
  var counter = BadgeCounter()
  /// The receipts of the service extension, which iOS runs for each push. On a phone they are in a folder that the extension shares with the
  /// app. Memory does here, because a virtual phone's process never ends.
  var receipts = ReceiptQueue(in: .serviceExtension)
  /// The ids of the receipts being published, and whether one of them failed.
  var reporting: (eventIds: Set<String>, hasFailed: Bool) = ([], false)

  /// The payloads of the notifications on the lock screen, by tag.
  var payloads: [String: PushPayload] = [:]
  var wakes: [Timer: Date] = [:]
  /// Events of the owner that are not accepted yet, in order.
  var pending: [ClientEvent] = []
  /// The pushes that pending events respond to, by event id. The owner learns the result of these events.
  var answers: [String: PushPayload] = [:]
  /// The ids of pending events that failed and will be published again, unchanged.
  var unsent: Set<String> = []
  /// The messages that FCM stores while the phone has no network.
  var kept = StoredMessages()
  /// The user who signs in after the sign-out in progress. Absent if there is none.
  var nextUser: String?
  var uploadEventId: String?
  var outputs: [PhoneOutput] = []

  /// Makes a phone with the app just installed, in the background, with nobody signed in.
  ///
  /// - Parameters:
  ///   - isAllowed: Whether the owner allows notifications when the system asks.
  ///   - hasLiveChannel: Whether a real-time gateway delivers banners.
  ///   - answersBanners: Whether the app reports each banner that it has shown.
  ///   - makeId: Returns a new id, such as a UUID, for each event and message.
  public init(
    device: Device, token: String, pushService: String? = nil, isAllowed: Bool = true, hasLiveChannel: Bool = true,
    answersBanners: Bool = false, makeId: @escaping @Sendable () -> String
  ) {
    presenter = NotificationPresenter(userId: nil, isForeground: false, hasLiveChannel: hasLiveChannel)
    self.device = device
    self.token = token
    self.pushService = pushService
    self.isAllowed = isAllowed
    self.makeId = makeId
    self.answersBanners = answersBanners
    words = Words(locale: device.locale)
    router = Router(words: words)
    permission = NotificationPermission(status: .notDetermined, words: words)
    upload = TokenUpload(device: device, makeId: makeId)
    activity = ActivityReporter(deviceId: device.deviceId, isForeground: false, makeId: makeId)
    ending = SignOut(deviceId: device.deviceId, makeId: makeId)
  }

  /// The address that pushes for this phone name: its token, or the endpoint of its subscription.
  public var address: String {
    guard let pushService, let subscription = BrowserSubscription(name: token) else { return token }
    return subscription.endpoint(at: pushService)
  }

  /// The signed-in user. Absent while nobody is signed in.
  public var userId: String? { presenter.userId }

  /// When `PhoneInput.time` is due. Absent if nothing is planned.
  public var nextWake: Date? { wakes.values.min() }

  /// Handles an input. Returns its outputs in order.
  public mutating func take(_ input: PhoneInput, at now: Date) -> [PhoneOutput] {
    outputs = []
    switch input {
    case .signIn(let userId): signIn(userId, at: now)
    case .signOut: signOut(at: now)
    case .open: open(at: now)
    case .close: close(at: now)
    case .openConversation(let conversationId):
      follow(router.receive(Route(conversationId: conversationId), at: now), at: now)
    case .closeConversation: closeConversation(at: now)
    case .respond(let response, let messageId): respond(response, to: messageId, at: now)
    case .tapBanner: perform(banners.tapped(at: now.timeIntervalSinceReferenceDate), at: now)
    case .write(let text, let conversationId): write(text, in: conversationId, at: now)
    case .read(let conversationId): markRead(conversationId, at: now)
    case .prefer(let change): prefer(change, at: now)
    case .allowNotifications(let isAllowed): allow(isAllowed, at: now)
    case .reinstall(let deviceId, let token): reinstall(deviceId: deviceId, token: token)
    case .network(let isOnline): network(isOnline, at: now)
    case .delivery(let message, let takenAt): arrive(message, takenAt: takenAt, at: now)
    case .banner(let banner): show(banner, at: now)
    case .notice(let notice): show(notice, at: now)
    case .published(let eventId, let succeeded): published(eventId, succeeded: succeeded, at: now)
    case .time: timeReached(at: now)
    }
    return outputs
  }

  mutating func emit(_ note: PhoneNote) { outputs.append(.note(note)) }

  mutating func showText(_ text: String) {
    lastWord = text
    emit(.told(text))
  }

  mutating func set(badge: Int) {
    guard badge != self.badge else { return }
    self.badge = badge
    emit(.badge(badge))
  }

  mutating func remove(_ entries: [LockScreen.Entry]) {
    guard !entries.isEmpty else { return }
    for entry in entries { payloads[entry.tag] = nil }
    emit(.removed(entries))
  }
}
