public import Foundation
public import NudgeClient

/// A phone with an app that does all by `NudgeClient`, and its owner: what happens goes in, with the time; what it shows,
/// and what it asks to be published, comes out.
///
/// It does no I/O and has no clock. Whoever plays it publishes the events and says what became of each, brings what FCM
/// delivers, and calls at `nextWake`.
public struct VirtualPhone: Sendable {
  private enum Timer: CaseIterable {
    case upload, activity, signOut, banner, outbox
  }

  /// Seconds after which what could not be published is published again.
  public static let outboxPause: TimeInterval = 5

  /// The installation, as the services know it.
  public private(set) var device: Device
  /// The installation's registration token.
  public private(set) var token: String
  /// What the owner sees without opening the app.
  public private(set) var lockScreen = LockScreen()
  /// The number on the icon.
  public private(set) var badge = 0
  /// The banner inside the app.
  public private(set) var banner: InAppBanner?
  /// What the app said last.
  public private(set) var lastWord: String?
  /// Whether the network is there.
  public private(set) var isOnline = true
  /// Whether the app is on the screen.
  public private(set) var isForeground = false
  /// The conversation on the app's screen, seen only while the app is.
  public private(set) var conversationId: String?
  /// Pushes that were shown with a sound.
  public private(set) var sounds = 0

  private let makeId: @Sendable () -> String
  private var isAllowed: Bool
  private var permission: NotificationPermission
  private var upload: TokenUpload
  private var activity: ActivityReporter
  private var ending: SignOut
  private var presenter = NotificationPresenter(userId: nil, isForeground: false)
  private var banners = BannerQueue(isForeground: false)
  private var router = Router()
  private var counter = BadgeCounter()

  /// Payloads of what is on the lock screen, by tag: what an answer to a notification is about.
  private var payloads: [String: PushPayload] = [:]
  private var wakes: [Timer: Date] = [:]
  /// Events of the owner's doing whose fate is open, in the order they were made.
  private var pending: [ClientEvent] = []
  /// Those of them that are answers to a notification: the owner is told how they ended.
  private var answers: Set<String> = []
  /// Those of them that could not be published, to be published again unchanged.
  private var unsent: Set<String> = []
  /// What FCM keeps while the phone is off the network.
  private var kept: [(message: DeliveredMessage, until: Int64)] = []
  /// Who signs in once the sign-out under way is over.
  private var nextUser: String?
  private var uploadEventId: String?
  private var outputs: [PhoneOutput] = []

  /// A phone with the app just installed, nobody signed in, in somebody's pocket. `isAllowed`: what the owner answers when
  /// they are asked for notifications. `makeId` gives a new id, such as a UUID, for each event and message.
  public init(
    device: Device, token: String, isAllowed: Bool = true, makeId: @escaping @Sendable () -> String
  ) {
    self.device = device
    self.token = token
    self.isAllowed = isAllowed
    self.makeId = makeId
    permission = NotificationPermission(status: .notDetermined)
    upload = TokenUpload(device: device, makeId: makeId)
    activity = ActivityReporter(deviceId: device.deviceId, isForeground: false, makeId: makeId)
    ending = SignOut(deviceId: device.deviceId, makeId: makeId)
  }

  /// Who is signed in.
  public var userId: String? { presenter.userId }

  /// When `PhoneInput.time` is due; nil: it need not be.
  public var nextWake: Date? { wakes.values.min() }

  /// Something happens. Returns what follows, in order.
  public mutating func take(_ input: PhoneInput, at now: Date) -> [PhoneOutput] {
    outputs = []
    switch input {
    case .signIn(let userId): signIn(userId, at: now)
    case .signOut: signOut(at: now)
    case .open: open(at: now)
    case .close: close(at: now)
    case .openConversation(let conversationId): follow(router.receive(Route(conversationId: conversationId)), at: now)
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
    case .notice(let text, let userId):
      if isOnline, isForeground, userId == self.userId { tell(text) }
    case .published(let eventId, let succeeded): published(eventId, succeeded: succeeded, at: now)
    case .time: timeReached(at: now)
    }
    return outputs
  }

  // MARK: The owner

  private mutating func signIn(_ userId: String, at now: Date) {
    guard userId != self.userId else { return }
    if self.userId != nil {
      nextUser = userId
      return signOut(at: now)
    }
    presenter.userChanged(to: userId)
    note(.signedIn(userId: userId))
    perform(activity.signedIn(as: userId, at: now), at: now)
    perform(upload.signedIn(as: userId, at: now), at: now)
    perform(permission.signedIn(), at: now)
    follow(router.ready(), at: now)
  }

  private mutating func signOut(at now: Date) {
    guard let userId else { return }
    perform(ending.begin(userId: userId, at: now), at: now)
  }

  private mutating func open(at now: Date) {
    guard !isForeground else { return }
    isForeground = true
    presenter.isForeground = true
    banners.enteredForeground()
    perform(activity.enteredForeground(at: now), at: now)
    // The owner may have been in the settings.
    if userId != nil { perform(permission.becameActive(status: isAllowed ? .authorized : .denied), at: now) }
    if let conversationId { appeared(conversationId, at: now) }
  }

  private mutating func close(at now: Date) {
    guard isForeground else { return }
    isForeground = false
    presenter.isForeground = false
    counter.closed()
    perform(banners.enteredBackground(), at: now)
    perform(activity.enteredBackground(at: now), at: now)
  }

  /// A conversation comes on the screen; the app does, too.
  private mutating func show(conversation conversationId: String, at now: Date) {
    let isOther = conversationId != self.conversationId
    self.conversationId = conversationId
    presenter.openConversationId = conversationId
    // Before the app comes to the front, so that its first report has the conversation.
    perform(activity.conversationAppeared(conversationId, at: now), at: now)
    if isForeground {
      if isOther { appeared(conversationId, at: now) }
    } else {
      open(at: now)
    }
  }

  /// A conversation is before the owner's eyes: it is read.
  private mutating func appeared(_ conversationId: String, at now: Date) {
    note(.opened(conversationId: conversationId))
    perform(banners.conversationOpened(conversationId, at: now.timeIntervalSinceReferenceDate), at: now)
    set(badge: counter.opened(conversationId))
    remove(lockScreen.remove(thread: conversationId))
    publishRead(conversationId, upTo: nil, at: now)
  }

  private mutating func closeConversation(at now: Date) {
    guard let conversationId else { return }
    self.conversationId = nil
    presenter.openConversationId = nil
    banners.conversationClosed()
    counter.closed()
    perform(activity.conversationDisappeared(conversationId, at: now), at: now)
  }

  private mutating func respond(_ response: NotificationResponse, to messageId: String?, at now: Date) {
    let entry = lockScreen.entries.first { messageId == nil || $0.messageId == messageId }
    guard let entry, let push = payloads[entry.tag] else {
      return note(.log("there is no such notification to answer"))
    }
    let actions = NotificationActions(userId: userId, deviceId: device.deviceId, makeId: makeId)
    switch actions.plan(for: response, to: push, at: now) {
    case .publish(let event):
      // The system takes a notification away once it was answered.
      remove(lockScreen.remove(tag: entry.tag))
      answers.insert(event.eventId)
      send(event, at: now)
    case .open(let route, let event):
      remove(lockScreen.remove(tag: entry.tag))
      send(event, at: now)
      follow(router.receive(route), at: now)
    case .refuse(let refusal):
      switch refusal {
      case .notSignedIn: tell("Sign in to answer")
      case .otherAccount: tell("This was for another account")
      case .emptyReply: tell("There is nothing to send")
      case .noMessage: break
      }
    }
  }

  private mutating func write(_ text: String, in conversationId: String, at now: Date) {
    guard let userId else { return }
    send(
      ClientEvent(
        eventId: makeId(), occurredAt: now,
        .messageCreated(
          .init(conversationId: conversationId, messageId: makeId(), senderId: userId, text: text))), at: now)
  }

  private mutating func markRead(_ conversationId: String, at now: Date) {
    guard userId != nil else { return }
    set(badge: counter.read(conversationId))
    remove(lockScreen.remove(thread: conversationId))
    publishRead(conversationId, upTo: nil, at: now)
  }

  private mutating func publishRead(_ conversationId: String, upTo messageId: String?, at now: Date) {
    guard let userId else { return }
    send(
      ClientEvent(
        eventId: makeId(), occurredAt: now,
        .messageRead(
          .init(userId: userId, conversationId: conversationId, messageId: messageId, deviceId: device.deviceId))),
      at: now)
  }

  private mutating func prefer(_ change: PreferencesChange, at now: Date) {
    guard let userId else { return }
    send(
      ClientEvent(
        eventId: makeId(), occurredAt: now, .preferencesUpdated(.init(userId: userId, preferences: change))), at: now)
    if let mode = change.badgeMode { set(badge: counter.modeChanged(to: mode)) }
  }

  private mutating func allow(_ isAllowed: Bool, at now: Date) {
    self.isAllowed = isAllowed
    // The app looks when it is in front again.
    if isForeground, userId != nil {
      perform(permission.becameActive(status: isAllowed ? .authorized : .denied), at: now)
    }
  }

  private mutating func reinstall(deviceId: String, token: String) {
    outputs.append(.uninstalled(token: self.token))
    if let userId { note(.signedOut(userId: userId)) }
    remove(lockScreen.clear())
    set(badge: 0)
    if let banner { note(.bannerHidden(messageId: banner.messageId)) }
    let done = outputs
    let isOnline = isOnline
    let sounds = sounds
    self = VirtualPhone(
      device: Device(
        deviceId: deviceId, platform: device.platform, appVersion: device.appVersion, locale: device.locale,
        projectId: device.projectId), token: token, isAllowed: isAllowed, makeId: makeId)
    self.isOnline = isOnline
    self.sounds = sounds
    outputs = done
  }

  // MARK: The network

  private mutating func network(_ isOnline: Bool, at now: Date) {
    guard isOnline != self.isOnline else { return }
    self.isOnline = isOnline
    note(.network(isOnline))
    guard isOnline else { return }
    resend(at: now)
    let deliveries = kept
    kept = []
    for delivery in deliveries {
      guard Int64(now.timeIntervalSince1970 * 1_000) <= delivery.until else {
        note(.lapsed(pushId: delivery.message.pushId))
        continue
      }
      receive(delivery.message, at: now)
    }
  }

  private mutating func arrive(_ message: DeliveredMessage, takenAt: Int64, at now: Date) {
    // For an installation that is no more.
    guard message.token == token else { return }
    guard !isOnline else { return receive(message, at: now) }
    if let collapseId = message.collapseId,
      let former = kept.firstIndex(where: { $0.message.collapseId == collapseId })
    {
      note(.lapsed(pushId: kept.remove(at: former).message.pushId))
    }
    kept.append((message, message.keptUntil(takenAt: takenAt)))
  }

  private mutating func receive(_ message: DeliveredMessage, at now: Date) {
    let push: PushPayload
    do throws(PushPayloadError) {
      push = try Self.payload(of: message)
    } catch {
      return note(.fault("push \(message.pushId): \(error)"))
    }
    if let contradiction = Self.contradiction(of: message, push) {
      note(.fault("push \(message.pushId): \(contradiction)"))
    }
    guard push.recipientId == userId else {
      return note(.dropped(pushId: push.pushId, recipientId: push.recipientId, .otherRecipient))
    }
    note(.received(push))
    send(.received(push, deviceId: device.deviceId, eventId: makeId(), at: now), at: now)
    let action = presenter.receive(push)
    count(push, action)
    switch action {
    case .present(let options, let badge):
      if let badge { set(badge: counter.told(badge)) }
      show(message, push, options, at: now)
    case .setBadge(let badge):
      set(badge: counter.told(badge))
    case .removeNotifications(let conversationId, let badge):
      _ = counter.read(conversationId)
      set(badge: counter.told(badge))
      remove(lockScreen.remove(thread: conversationId))
      perform(banners.conversationRead(conversationId, at: now.timeIntervalSinceReferenceDate), at: now)
    case .removeNotification(_, let messageId, let badge):
      set(badge: counter.told(badge))
      remove(lockScreen.remove(messageId: messageId))
    case .drop(let reason):
      note(.dropped(pushId: push.pushId, recipientId: push.recipientId, reason))
      // It is before the owner's eyes: the services are told, for the other devices.
      if reason == .openConversation, let conversationId = push.conversationId {
        publishRead(conversationId, upTo: push.messageId, at: now)
      }
    }
  }

  /// What came for the first time counts as unread.
  private mutating func count(_ push: PushPayload, _ action: NotificationPresenter.Action) {
    if case .drop = action { return }
    switch push.content {
    case .message(let message): _ = counter.received(messageId: message.messageId, in: message.conversationId)
    case .badge:
      // A message of low priority.
      if let conversationId = push.conversationId, let messageId = push.messageId {
        _ = counter.received(messageId: messageId, in: conversationId)
      }
    case .read, .deleted: break
    }
  }

  private mutating func show(
    _ message: DeliveredMessage, _ push: PushPayload, _ options: PresentationOptions, at now: Date
  ) {
    guard case .visible(let visible) = message.content, options != [.badge] else { return }
    let isHeard = visible.isAlert && options.contains(.sound)
    if isHeard { sounds += 1 }
    var entry = LockScreen.Entry(visible, of: message, at: Int64(now.timeIntervalSince1970 * 1_000))
    entry.isAlert = isHeard
    if options.contains(.list) {
      entry = lockScreen.show(entry)
      payloads[entry.tag] = push
      if payloads.count > 2 * LockScreen.capacity {
        let shown = Set(lockScreen.entries.map(\.tag))
        payloads = payloads.filter { shown.contains($0.key) }
      }
    }
    note(.shown(entry, options, by: push))
  }

  private mutating func show(_ banner: InAppBanner, at now: Date) {
    guard isOnline, presenter.admits(banner) else { return }
    perform(banners.receive(banner, at: now.timeIntervalSinceReferenceDate), at: now)
  }

  // MARK: Publishing

  /// Publishes an event of the owner's doing; it is kept until it was accepted.
  private mutating func send(_ event: ClientEvent, at now: Date) {
    pending.append(event)
    attempt(event, at: now)
  }

  private mutating func attempt(_ event: ClientEvent, at now: Date) {
    guard isOnline else { return failed(event, at: now) }
    outputs.append(.publish(event))
  }

  private mutating func published(_ eventId: String, succeeded: Bool, at now: Date) {
    if eventId == uploadEventId, succeeded {
      uploadEventId = nil
      if let userId { note(.registered(userId: userId)) }
    }
    perform(upload.finished(eventId: eventId, succeeded: succeeded, at: now), at: now)
    perform(ending.finished(eventId: eventId, succeeded: succeeded), at: now)
    guard let place = pending.firstIndex(where: { $0.eventId == eventId }) else { return }
    let event = pending[place]
    guard succeeded else { return failed(event, at: now) }
    pending.remove(at: place)
    let wasLate = unsent.remove(eventId) != nil
    complete(event, succeeded: true, wasLate: wasLate, at: now)
  }

  private mutating func failed(_ event: ClientEvent, at now: Date) {
    let isFirst = unsent.insert(event.eventId).inserted
    if isOnline { wakes[.outbox] = now.addingTimeInterval(Self.outboxPause) }
    // Said once; what becomes of it later is said then.
    if isFirst { complete(event, succeeded: false, wasLate: false, at: now) }
  }

  private mutating func complete(_ event: ClientEvent, succeeded: Bool, wasLate: Bool, at now: Date) {
    let isAnswer = answers.contains(event.eventId)
    if succeeded { answers.remove(event.eventId) }
    // Opening a conversation is no question that the owner waits to be answered; a message they wrote is.
    if !isAnswer, event.body.type != "message.created" { return }
    switch NotificationActions.completion(of: event, succeeded: succeeded) {
    case .none: break
    case .tell(let text): tell(text)
    case .removeNotifications(let conversationId):
      // Late: what has come since was not read.
      guard !wasLate else { return }
      set(badge: counter.read(conversationId))
      remove(lockScreen.remove(thread: conversationId))
    case .fail(let text, let route):
      tell(text)
      if isAnswer, !isForeground { follow(router.receive(route), at: now) }
    }
  }

  private mutating func resend(at now: Date) {
    wakes[.outbox] = nil
    for event in pending where unsent.contains(event.eventId) { attempt(event, at: now) }
  }

  // MARK: Time

  private mutating func timeReached(at now: Date) {
    for timer in Timer.allCases {
      guard let due = wakes[timer], due <= now else { continue }
      wakes[timer] = nil
      switch timer {
      case .upload: perform(upload.timeReached(at: now), at: now)
      case .activity: perform(activity.timeReached(at: now), at: now)
      case .signOut: perform(ending.timeReached(at: now), at: now)
      case .banner: perform(banners.timeReached(at: now.timeIntervalSinceReferenceDate), at: now)
      case .outbox: resend(at: now)
      }
    }
  }

  // MARK: What NudgeClient's values ask for

  private mutating func perform(_ actions: [TokenUpload.Action], at now: Date) {
    for action in actions {
      switch action {
      case .publish(let event):
        guard isOnline else {
          perform(upload.finished(eventId: event.eventId, succeeded: false, at: now), at: now)
          continue
        }
        if case .deviceRegistered = event.body { uploadEventId = event.eventId }
        outputs.append(.publish(event))
      case .cancel(let eventId): outputs.append(.cancel(eventId: eventId))
      case .wake(let time): wakes[.upload] = time
      case .cancelWake: wakes[.upload] = nil
      case .log(let line): note(.log(line))
      }
    }
  }

  private mutating func perform(_ actions: [ActivityReporter.Action], at now: Date) {
    for action in actions {
      switch action {
      // Off the network it is lost: the next report replaces it.
      case .publish(let event): if isOnline { outputs.append(.publish(event)) }
      case .wake(let time): wakes[.activity] = time
      case .cancelWake: wakes[.activity] = nil
      }
    }
  }

  private mutating func perform(_ actions: [NotificationPermission.Action], at now: Date) {
    for action in actions {
      switch action {
      // The owner reads it and goes on.
      case .explain: perform(permission.explanationEnded(agreed: true), at: now)
      case .ask: perform(permission.answered(granted: isAllowed), at: now)
      case .register: perform(upload.tokenReceived(token, at: now), at: now)
      case .forgetToken: perform(upload.permissionDenied(at: now), at: now)
      case .showBanner(let banner):
        note(.settingsBanner(isShown: true))
        tell(banner.text)
      case .hideBanner: note(.settingsBanner(isShown: false))
      case .openSettings: break
      }
    }
  }

  private mutating func perform(_ actions: [SignOut.Action], at now: Date) {
    for action in actions {
      switch action {
      case .publish(let event):
        guard isOnline else {
          perform(ending.finished(eventId: event.eventId, succeeded: false), at: now)
          continue
        }
        outputs.append(.publish(event))
      case .wake(let time): wakes[.signOut] = time
      case .cancelWake: wakes[.signOut] = nil
      case .log(let line): note(.log(line))
      case .closeConversation:
        perform(activity.signedOut(at: now), at: now)
        conversationId = nil
        presenter.openConversationId = nil
      case .forgetUser: forgetUser(at: now)
      case .clearBanners:
        perform(banners.signedOut(), at: now)
        remove(lockScreen.clear())
      case .dropPendingLink: router.signedOut()
      case .clearBadge:
        set(badge: counter.signedOut())
        if let next = nextUser {
          nextUser = nil
          signIn(next, at: now)
        }
      }
    }
  }

  private mutating func forgetUser(at now: Date) {
    if let userId { note(.signedOut(userId: userId)) }
    perform(upload.signedOut(), at: now)
    perform(permission.signedOut(), at: now)
    presenter.userChanged(to: nil)
    // They were the user's, whose credentials are gone.
    if !unsent.isEmpty { note(.log("\(unsent.count) events could not be published before the sign-out, and are lost")) }
    pending = []
    answers = []
    unsent = []
    wakes[.outbox] = nil
  }

  private mutating func perform(_ actions: [BannerQueue.Action], at now: Date) {
    for action in actions {
      switch action {
      case .show(let banner):
        self.banner = banner
        note(.bannerShown(banner))
      case .hide(let messageId):
        if banner?.messageId == messageId { banner = nil }
        note(.bannerHidden(messageId: messageId))
      case .wake(let time): wakes[.banner] = Date(timeIntervalSinceReferenceDate: time)
      case .cancelWake: wakes[.banner] = nil
      case .route(let route): follow(router.receive(route), at: now)
      }
    }
  }

  private mutating func follow(_ actions: [Router.Action], at now: Date) {
    for action in actions {
      switch action {
      // The app keeps its list.
      case .loadList: follow(router.listLoaded(), at: now)
      case .open(let conversationId):
        show(conversation: conversationId, at: now)
        follow(router.opened(conversationId), at: now)
      case .scroll(let messageId): follow(router.scrolled(to: messageId), at: now)
      case .highlight(let messageId, _): note(.highlighted(messageId: messageId))
      case .tell(let text): tell(text)
      }
    }
  }

  // MARK: Parts

  private mutating func note(_ note: PhoneNote) { outputs.append(.note(note)) }

  private mutating func tell(_ text: String) {
    lastWord = text
    note(.told(text))
  }

  private mutating func set(badge: Int) {
    guard badge != self.badge else { return }
    self.badge = badge
    note(.badge(badge))
  }

  private mutating func remove(_ entries: [LockScreen.Entry]) {
    guard !entries.isEmpty else { return }
    for entry in entries { payloads[entry.tag] = nil }
    note(.removed(entries))
  }

  /// As the app gets it: beside `aps` on iOS, else the data alone.
  private static func payload(of message: DeliveredMessage) throws(PushPayloadError) -> PushPayload {
    guard message.platform == .ios else { return try PushPayload(data: message.data) }
    var userInfo: [AnyHashable: Any] = message.data
    if case .visible(let visible) = message.content {
      userInfo["aps"] = ["alert": ["title": visible.title, "body": visible.body]]
    }
    return try PushPayload(userInfo: userInfo)
  }

  /// What in a push does not go together: what the app reads in the data must be what the system makes of the rest.
  private static func contradiction(of message: DeliveredMessage, _ push: PushPayload) -> String? {
    if let badge = message.badge, badge != push.badge { return "two badges" }
    switch (push.content, message.content) {
    case (.message(let payload), .visible(let visible)):
      if visible.thread != payload.conversationId { return "it is grouped under another conversation than its own" }
      switch payload.priority {
      case .high: return visible.isAlert ? nil : "high priority without a sound"
      case .medium: return visible.isAlert ? "medium priority with a sound" : nil
      case .low: return "low priority, and something to be seen"
      }
    case (.message, _): return "a message with nothing to be seen"
    case (.badge, _), (.read, _), (.deleted, _):
      return message.hasNotification ? "something to be seen that is no message" : nil
    }
  }
}
