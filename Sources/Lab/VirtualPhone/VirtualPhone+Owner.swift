import Foundation
import NudgeClient

// The owner acts.
extension VirtualPhone {
  mutating func signIn(_ userId: String, at now: Date) {
    guard userId != self.userId else { return }
    if self.userId != nil {
      nextUser = userId
      return signOut(at: now)
    }
    presenter.userChanged(to: userId)
    emit(.signedIn(userId: userId))
    perform(ending.signedIn(), at: now)
    perform(activity.signedIn(as: userId, at: now), at: now)
    perform(upload.signedIn(as: userId, at: now), at: now)
    perform(permission.signedIn(), at: now)
    follow(router.ready(at: now), at: now)
  }

  mutating func signOut(at now: Date) {
    guard let userId else { return }
    perform(ending.begin(userId: userId, at: now), at: now)
  }

  mutating func open(at now: Date) {
    guard !isForeground else { return }
    isForeground = true
    presenter.isForeground = true
    banners.enteredForeground()
    perform(activity.enteredForeground(at: now), at: now)
    // The owner may have changed the settings.
    if userId != nil { perform(permission.becameActive(status: isAllowed ? .authorized : .denied), at: now) }
    if let conversationId { appeared(conversationId, at: now) }
  }

  mutating func close(at now: Date) {
    guard isForeground else { return }
    isForeground = false
    presenter.isForeground = false
    counter.closed()
    perform(banners.enteredBackground(), at: now)
    perform(activity.enteredBackground(at: now), at: now)
  }

  /// Shows a conversation, and brings the app to the foreground.
  mutating func show(conversation conversationId: String, at now: Date) {
    let isOther = conversationId != self.conversationId
    self.conversationId = conversationId
    presenter.openConversationId = conversationId
    // Before the app enters the foreground, so that its first report names the conversation.
    perform(activity.conversationAppeared(conversationId, at: now), at: now)
    if isForeground {
      if isOther { appeared(conversationId, at: now) }
    } else {
      open(at: now)
    }
  }

  /// A conversation is on the screen: the owner reads it.
  mutating func appeared(_ conversationId: String, at now: Date) {
    emit(.opened(conversationId: conversationId))
    perform(banners.conversationOpened(conversationId, at: now.timeIntervalSinceReferenceDate), at: now)
    set(badge: counter.opened(conversationId))
    remove(lockScreen.remove(ReadMark(conversationId: conversationId)))
    publishRead(conversationId, upTo: nil, at: now)
  }

  mutating func closeConversation(at now: Date) {
    guard let conversationId else { return }
    self.conversationId = nil
    presenter.openConversationId = nil
    banners.conversationClosed()
    counter.closed()
    perform(activity.conversationDisappeared(conversationId, at: now), at: now)
  }

  mutating func respond(_ response: NotificationResponse, to messageId: String?, at now: Date) {
    let entry = lockScreen.entries.first { messageId == nil || $0.messageId == messageId }
    guard let entry, let push = payloads[entry.tag] else {
      return emit(.log("no such notification to respond to"))
    }
    let actions = NotificationActions(userId: userId, deviceId: device.deviceId, makeId: makeId)
    switch actions.plan(for: response, to: push, at: now) {
    case .publish(let event):
      // The system removes a notification after a response.
      remove(lockScreen.remove(tag: entry.tag))
      answers[event.eventId] = push
      send(event, at: now)
    case .open(let route, let event):
      remove(lockScreen.remove(tag: entry.tag))
      send(event, at: now)
      follow(router.receive(route, at: now), at: now)
    case .openCatchUp(let catchUp):
      remove(lockScreen.remove(tag: entry.tag))
      self.catchUp = catchUp
      // The owner takes the first line of the list.
      if let route = catchUp.route ?? catchUp.lines.first?.route {
        follow(router.receive(route, at: now), at: now)
      } else {
        open(at: now)
      }
    case .none:
      remove(lockScreen.remove(tag: entry.tag))
    case .refuse(let refusal):
      if let text = refusal.text(words) { showText(text) }
    }
  }

  mutating func write(_ text: String, in conversationId: String, at now: Date) {
    guard let userId else { return }
    // A person who writes in the app sees the conversation.
    remove(lockScreen.remove(ReadMark(conversationId: conversationId)))
    send(
      ClientEvent(
        eventId: makeId(), occurredAt: now,
        .messageCreated(
          .init(conversationId: conversationId, messageId: makeId(), senderId: userId, text: text))), at: now)
  }

  mutating func markRead(_ conversationId: String, at now: Date) {
    guard userId != nil else { return }
    set(badge: counter.read(conversationId))
    remove(lockScreen.remove(ReadMark(conversationId: conversationId)))
    publishRead(conversationId, upTo: nil, at: now)
  }

  mutating func publishRead(_ conversationId: String, upTo messageId: String?, at now: Date) {
    guard let userId else { return }
    send(
      ClientEvent(
        eventId: makeId(), occurredAt: now,
        .messageRead(
          .init(userId: userId, conversationId: conversationId, messageId: messageId, deviceId: device.deviceId))),
      at: now)
  }

  mutating func prefer(_ change: PreferencesChange, at now: Date) {
    guard let userId else { return }
    send(
      ClientEvent(
        eventId: makeId(), occurredAt: now, .preferencesUpdated(.init(userId: userId, preferences: change))), at: now)
    if let mode = change.badgeMode { set(badge: counter.modeChanged(to: mode)) }
  }

  mutating func allow(_ isAllowed: Bool, at now: Date) {
    self.isAllowed = isAllowed
    // The app checks when it becomes active.
    if isForeground, userId != nil {
      perform(permission.becameActive(status: isAllowed ? .authorized : .denied), at: now)
    }
  }

  mutating func reinstall(deviceId: String, token: String) {
    outputs.append(.uninstalled(token: address))
    if let userId { emit(.signedOut(userId: userId)) }
    remove(lockScreen.clear())
    set(badge: 0)
    if let banner { emit(.bannerHidden(banner)) }
    let done = outputs
    let isOnline = isOnline
    let sounds = sounds
    self = VirtualPhone(
      device: Device(
        deviceId: deviceId, platform: device.platform, appVersion: device.appVersion, locale: device.locale,
        projectId: device.projectId, renders: device.renders), token: token, pushService: pushService,
      isAllowed: isAllowed,
      hasLiveChannel: presenter.hasLiveChannel, answersBanners: answersBanners, makeId: makeId)
    self.isOnline = isOnline
    self.sounds = sounds
    outputs = done
  }
}
