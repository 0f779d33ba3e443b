import Foundation
import NudgeClient

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
