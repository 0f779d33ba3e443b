public import Foundation

/// Reports which conversation the user has open (C7): at every change, and every 60 s while the app is in the foreground.
/// The services ignore a report that is older than 2 minutes.
///
/// A report is only a claim, because the app may end at any time. So when a conversation leaves the screen, the
/// reporter also publishes that the user has read it. Then the services do not notify them of messages that arrived
/// while it was open.
///
/// An open app does not mean that somebody uses it. Call `interacted(at:)` whenever the user touches the screen, types
/// or moves the pointer. Reports then contain the time of the last input. 5 minutes after it the device is idle, and
/// the user's devices are notified again.
///
/// It does no I/O: calls in, actions out.
///
/// ```swift
/// var activity = ActivityReporter(deviceId: deviceId, isForeground: true, makeId: { UUID().uuidString })
/// perform(activity.signedIn(as: "ann", at: Date()))
/// perform(activity.conversationAppeared("c1", at: Date()))
/// perform(activity.interacted(at: Date()))
/// perform(activity.enteredBackground(at: Date()))
/// ```
public struct ActivityReporter: Sendable {
  /// A step that the app takes. Take the steps in the order given.
  public enum Action: Sendable, Equatable {
    /// Publish the event. Do not retry a `user.activity`, because the next report replaces it. Retry a `message.read`
    /// like any other event.
    case publish(ClientEvent)
    /// Call `timeReached(at:)` at this time. A later `wake` replaces it.
    case wake(at: Date)
    /// Cancel the call of `timeReached(at:)`.
    case cancelWake
  }

  /// The seconds between two reports while nothing changes.
  public static let interval: TimeInterval = 60
  /// The seconds without input after which the device is idle. The next report says so.
  public static let idleTime: TimeInterval = 300

  private let deviceId: String
  private let makeId: @Sendable () -> String
  private var userId: String?
  private var isForeground: Bool
  private var conversationId: String?
  private var nextReport: Date?
  /// When the user last touched the device. Nil if the app never reported input; then the device is never idle.
  private var lastInput: Date?
  private var isIdle = false

  /// A reporter for this device, with nobody signed in. `makeId` returns a new id, such as a UUID, for each event.
  public init(deviceId: String, isForeground: Bool, makeId: @escaping @Sendable () -> String) {
    self.deviceId = deviceId
    self.isForeground = isForeground
    self.makeId = makeId
  }

  /// A user has signed in.
  public mutating func signedIn(as userId: String, at now: Date) -> [Action] {
    guard userId != self.userId else { return [] }
    self.userId = userId
    return isForeground ? report(at: now) : []
  }

  /// The user signs out: reports that their app is in the background.
  public mutating func signedOut(at now: Date) -> [Action] {
    defer {
      userId = nil
      conversationId = nil
      isIdle = false
    }
    return isForeground ? seen(at: now) + end(at: now) : []
  }

  /// The app entered the foreground.
  public mutating func enteredForeground(at now: Date) -> [Action] {
    guard !isForeground else { return [] }
    isForeground = true
    touch(at: now)
    return report(at: now)
  }

  /// The user has touched the screen, typed or moved the pointer. Call it on every input. It publishes a report only
  /// when the device was idle.
  public mutating func interacted(at now: Date) -> [Action] {
    lastInput = max(now, lastInput ?? now)
    guard isIdle else { return [] }
    isIdle = false
    return isForeground ? report(at: now) : []
  }

  /// The app entered the background, or is about to end.
  public mutating func enteredBackground(at now: Date) -> [Action] {
    guard isForeground else { return [] }
    isForeground = false
    return seen(at: now) + end(at: now)
  }

  /// A conversation is on the screen.
  public mutating func conversationAppeared(_ conversationId: String, at now: Date) -> [Action] {
    conversationId == self.conversationId ? [] : change(to: conversationId, at: now)
  }

  /// A conversation left the screen. Ignored if another has appeared since, as when one view slides over another.
  public mutating func conversationDisappeared(_ conversationId: String, at now: Date) -> [Action] {
    conversationId == self.conversationId ? change(to: nil, at: now) : []
  }

  /// The time of the last `wake` has come. A call that is early or late is harmless.
  public mutating func timeReached(at now: Date) -> [Action] {
    guard let nextReport else { return [] }
    guard now >= nextReport else { return [.wake(at: nextReport)] }
    guard let lastInput, now.timeIntervalSince(lastInput) >= Self.idleTime else { return report(at: now) }
    // The user has read everything that arrived until their last input.
    let read = seen(at: lastInput)
    isIdle = true
    self.nextReport = nil
    return read + (event(.idle, nil, at: now).map { [.publish($0), .cancelWake] } ?? [])
  }

  private mutating func change(to conversationId: String?, at now: Date) -> [Action] {
    touch(at: now)
    let actions = isForeground ? seen(at: now) : []
    self.conversationId = conversationId
    return isForeground ? actions + report(at: now) : []
  }

  /// If the app reports input, changing the screen counts as input.
  private mutating func touch(at now: Date) {
    if lastInput != nil { lastInput = now }
    isIdle = false
  }

  private mutating func report(at now: Date) -> [Action] {
    guard let event = event(.foreground, conversationId, at: now) else { return [] }
    let next = now.addingTimeInterval(Self.interval)
    nextReport = next
    return [.publish(event), .wake(at: next)]
  }

  private mutating func end(at now: Date) -> [Action] {
    nextReport = nil
    isIdle = false
    guard let event = event(.background, nil, at: now) else { return [] }
    return [.publish(event), .cancelWake]
  }

  /// The open conversation leaves the screen, so the user has read its messages.
  private func seen(at now: Date) -> [Action] {
    guard let userId, let conversationId, !isIdle else { return [] }
    return [
      .publish(
        ClientEvent(
          eventId: makeId(), occurredAt: now,
          .messageRead(.init(userId: userId, conversationId: conversationId, deviceId: deviceId))))
    ]
  }

  private func event(_ state: ClientEvent.ActivityState, _ conversationId: String?, at now: Date) -> ClientEvent? {
    guard let userId else { return nil }
    return ClientEvent(
      eventId: makeId(), occurredAt: now,
      .userActivity(
        .init(userId: userId, deviceId: deviceId, state: state, conversationId: conversationId, lastInputAt: lastInput))
    )
  }
}
