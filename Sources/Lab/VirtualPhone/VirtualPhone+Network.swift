import Foundation
import NudgeClient

// Pushes, banners and the network arrive.
extension VirtualPhone {
  mutating func network(_ isOnline: Bool, at now: Date) {
    guard isOnline != self.isOnline else { return }
    self.isOnline = isOnline
    emit(.network(isOnline))
    guard isOnline else { return }
    perform(ending.retry(at: now), at: now)
    resend(at: now)
    let (deliveries, wereDeleted) = kept.take()
    if wereDeleted {
      emit(.messagesDeleted)
      // A real app asks its backend. This phone has no backend and only reports the step.
      if presenter.messagesDeleted() == .synchronize { emit(.synchronized) }
    }
    for delivery in deliveries {
      guard Int64(now.timeIntervalSince1970 * 1_000) <= delivery.until else {
        emit(.lapsed(pushId: delivery.message.pushId))
        continue
      }
      receive(delivery.message, at: now)
    }
  }

  mutating func arrive(_ message: DeliveredMessage, takenAt: Int64, at now: Date) {
    // The push is for an installation that was removed.
    guard message.token == address else { return }
    guard !isOnline else { return receive(message, at: now) }
    for gone in kept.add(message, until: message.keptUntil(takenAt: takenAt)) { emit(.lapsed(pushId: gone.pushId)) }
  }

  mutating func receive(_ message: DeliveredMessage, at now: Date) {
    let push: PushPayload
    do throws(PushPayloadError) {
      push = try Self.payload(of: message)
    } catch {
      return emit(.fault("push \(message.pushId): \(error)"))
    }
    if let contradiction = Self.contradiction(of: message, push) {
      emit(.fault("push \(message.pushId): \(contradiction)"))
    }
    guard push.recipientId == userId else {
      return emit(.dropped(pushId: push.pushId, recipientId: push.recipientId, .otherRecipient))
    }
    emit(.received(push))
    perform(receipts.received(push, deviceId: device.deviceId, at: now), at: now)
    let action = presenter.receive(push)
    count(push, action)
    switch action {
    case .present(let options, let badge):
      if let badge { set(badge: counter.reported(badge)) }
      show(message, push, options, at: now)
    case .setBadge(let badge):
      set(badge: counter.reported(badge))
    case .removeNotifications(let mark, let badge):
      _ = counter.read(mark)
      set(badge: counter.reported(badge))
      remove(lockScreen.remove(mark))
      perform(banners.conversationRead(mark, at: now.timeIntervalSinceReferenceDate), at: now)
    case .removeNotification(let conversationId, let messageId, let badge):
      set(badge: counter.reported(badge))
      remove(lockScreen.remove(messageId: messageId, in: conversationId))
      perform(banners.messageDeleted(messageId, in: conversationId, at: now.timeIntervalSinceReferenceDate), at: now)
    case .presentCatchUp(let catchUp, let options, let badge):
      if let badge { set(badge: counter.reported(badge)) }
      if isForeground { self.catchUp = catchUp }
      show(message, push, options, at: now)
    case .removeCatchUp(let pushId, let badge):
      set(badge: counter.reported(badge))
      remove(lockScreen.remove(tag: pushId))
    case .synchronize:
      emit(.synchronized)
    case .drop(let reason):
      emit(.dropped(pushId: push.pushId, recipientId: push.recipientId, reason))
      // The owner reads the message on the screen. The other devices learn of it by this event.
      if reason == .openConversation, let conversationId = push.conversationId {
        publishRead(conversationId, upTo: push.messageId, at: now)
      }
    }
  }

  /// Counts a new message as unread.
  mutating func count(_ push: PushPayload, _ action: NotificationPresenter.Action) {
    if case .drop = action { return }
    switch push.content {
    case .message(let message):
      _ = counter.received(messageId: message.messageId, in: message.conversationId, sentAt: push.timestamp)
    case .badge:
      // This is the push of a message with presentation `badge`.
      if let conversationId = push.conversationId, let messageId = push.messageId {
        _ = counter.received(messageId: messageId, in: conversationId, sentAt: push.timestamp)
      }
    case .read, .deleted, .catchUp, .catchUpEnded: break
    }
  }

  mutating func show(
    _ message: DeliveredMessage, _ push: PushPayload, _ options: PresentationOptions, at now: Date
  ) {
    guard case .visible(let visible) = message.content, options != [.badge] else { return }
    if options.contains(.sound) { sounds += 1 }
    var entry = LockScreen.Entry(visible, of: message, at: Int64(now.timeIntervalSince1970 * 1_000))
    if options.contains(.list) {
      entry = lockScreen.show(entry)
      payloads[entry.tag] = push
      if payloads.count > 2 * LockScreen.capacity {
        let shown = Set(lockScreen.entries.map(\.tag))
        payloads = payloads.filter { shown.contains($0.key) }
      }
    }
    emit(.shown(entry, options, by: push))
  }

  mutating func show(_ banner: InAppBanner, at now: Date) {
    guard isOnline, presenter.admits(banner) else { return }
    perform(banners.receive(.message(banner), at: now.timeIntervalSinceReferenceDate), at: now)
  }

  mutating func show(_ notice: InAppNotice, at now: Date) {
    guard isOnline, presenter.admits(notice) else { return }
    lastWord = notice.text
    perform(banners.receive(.notice(notice), at: now.timeIntervalSinceReferenceDate), at: now)
  }

  /// The payload as the app decodes it: from `userInfo` on iOS, from the data alone elsewhere.
  static func payload(of message: DeliveredMessage) throws(PushPayloadError) -> PushPayload {
    guard message.platform == .ios else { return try PushPayload(data: message.data) }
    var userInfo: [AnyHashable: Any] = message.data
    if case .visible(let visible) = message.content {
      userInfo["aps"] = ["alert": ["title": visible.title, "body": visible.body]]
    }
    return try PushPayload(userInfo: userInfo)
  }

  /// A contradiction between the data, which the app reads, and the rest, which the system presents.
  static func contradiction(of message: DeliveredMessage, _ push: PushPayload) -> String? {
    if let badge = message.badge, badge != push.badge { return "two badges" }
    switch (push.content, message.content) {
    case (.message(let payload), .visible(let visible)):
      if visible.thread != payload.conversationId { return "its thread is not its conversation" }
      switch payload.presentation {
      case .alert: return visible.isAlert ? nil : "presentation alert without a sound"
      case .silent: return visible.isAlert ? "presentation silent with a sound" : nil
      case .badge: return "presentation badge with a visible notification"
      }
    case (.catchUp(let catchUp), .visible(let visible)):
      if visible.isAlert != (catchUp.presentation == .alert) { return "a catch-up with the wrong sound" }
      if catchUp.lines.contains(where: { !visible.body.contains($0.text) }) { return "a line that is not in the body" }
      return nil
    case (.catchUp, _): return "a catch-up without a visible notification"
    case (.message, _): return "a message without a visible notification"
    case (.badge, _), (.read, _), (.deleted, _), (.catchUpEnded, _):
      return message.hasNotification ? "a visible notification without a message" : nil
    }
  }
}

// Publishes the owner's events until the services accept them.
extension VirtualPhone {
  /// Publishes an event of the owner, and keeps it until it is accepted.
  mutating func send(_ event: ClientEvent, at now: Date) {
    pending.append(event)
    attempt(event, at: now)
  }

  /// Asks the caller to publish the event. Without a network the attempt fails at once.
  mutating func attempt(_ event: ClientEvent, at now: Date) {
    guard isOnline else { return failed(event, at: now) }
    outputs.append(.publish(event))
  }

  /// Handles the result of publishing an event: a token upload, a sign-out, a receipt, or an event of the owner.
  mutating func published(_ eventId: String, succeeded: Bool, at now: Date) {
    if eventId == uploadEventId, succeeded {
      uploadEventId = nil
      if let userId { emit(.registered(userId: userId)) }
    }
    perform(upload.finished(eventId: eventId, succeeded: succeeded, at: now), at: now)
    perform(ending.finished(eventId: eventId, succeeded: succeeded), at: now)
    if reporting.eventIds.remove(eventId) != nil {
      reporting.hasFailed = reporting.hasFailed || !succeeded
      if reporting.eventIds.isEmpty { perform(receipts.finished(succeeded: !reporting.hasFailed, at: now), at: now) }
      return
    }
    guard let place = pending.firstIndex(where: { $0.eventId == eventId }) else { return }
    let event = pending[place]
    guard succeeded else { return failed(event, at: now) }
    pending.remove(at: place)
    unsent.remove(eventId)
    complete(event, succeeded: true, at: now)
  }

  mutating func failed(_ event: ClientEvent, at now: Date) {
    let isFirst = unsent.insert(event.eventId).inserted
    if isOnline { wakes[.outbox] = now.addingTimeInterval(Self.outboxPause) }
    // The app shows the owner the first failure and the final success, not the failures in between.
    if isFirst { complete(event, succeeded: false, at: now) }
  }

  mutating func complete(_ event: ClientEvent, succeeded: Bool, at now: Date) {
    let push = answers[event.eventId]
    if succeeded { answers[event.eventId] = nil }
    // The owner sees the result of a response to a notification and of a written message. Other events, such as the read of an opened
    // conversation, succeed or fail unseen.
    if push == nil, event.body.type != "message.created" { return }
    switch NotificationActions.completion(of: event, to: push, succeeded: succeeded, in: words) {
    case .none: break
    case .tell(let text): showText(text)
    case .removeNotifications(let mark):
      presenter.conversationRead(mark)
      set(badge: counter.read(mark))
      remove(lockScreen.remove(mark))
    case .fail(let text, let route):
      showText(text)
      if push != nil, !isForeground { follow(router.receive(route, at: now), at: now) }
    }
  }

  /// Publishes receipts, and the owner's failed events again.
  mutating func resend(at now: Date) {
    wakes[.outbox] = nil
    perform(receipts.flush(), at: now)
    for event in pending where unsent.contains(event.eventId) { attempt(event, at: now) }
  }
}
