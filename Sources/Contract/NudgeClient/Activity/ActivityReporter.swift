public import Foundation

/// Reports what the user has before their eyes (C7): at every change, and every 60 s while the app is in the foreground,
/// so that a report of more than 2 minutes ago means that they are gone.
///
/// It does no I/O: calls in, actions out.
public struct ActivityReporter: Sendable {
  /// What the app does next, in the order given.
  public enum Action: Sendable, Equatable {
    /// Publish the event. If that fails, nothing is to be done: the next report replaces it.
    case publish(ClientEvent)
    /// Call `timeReached(at:)` at this time. There is one such time: a later one replaces it.
    case wake(at: Date)
    /// Do not call `timeReached(at:)`, unless another time is given.
    case cancelWake
  }

  /// Seconds between two reports of the same.
  public static let interval: TimeInterval = 60

  private let deviceId: String
  private let makeId: @Sendable () -> String
  private var userId: String?
  private var isForeground: Bool
  private var conversationId: String?
  private var nextReport: Date?

  /// A reporter for this device, before anybody is signed in; `makeId` gives a new id, such as a UUID, for each event.
  public init(deviceId: String, isForeground: Bool, makeId: @escaping @Sendable () -> String) {
    self.deviceId = deviceId
    self.isForeground = isForeground
    self.makeId = makeId
  }

  /// Somebody is signed in.
  public mutating func signedIn(as userId: String, at now: Date) -> [Action] {
    guard userId != self.userId else { return [] }
    self.userId = userId
    return isForeground ? report(at: now) : []
  }

  /// The user signs out: for them the app is in the background.
  public mutating func signedOut(at now: Date) -> [Action] {
    defer {
      userId = nil
      conversationId = nil
    }
    return isForeground ? end(at: now) : []
  }

  /// The app came to the foreground.
  public mutating func enteredForeground(at now: Date) -> [Action] {
    guard !isForeground else { return [] }
    isForeground = true
    return report(at: now)
  }

  /// The app went into the background, or is about to be closed.
  public mutating func enteredBackground(at now: Date) -> [Action] {
    guard isForeground else { return [] }
    isForeground = false
    return end(at: now)
  }

  /// A conversation is on the screen.
  public mutating func conversationAppeared(_ conversationId: String, at now: Date) -> [Action] {
    guard conversationId != self.conversationId else { return [] }
    self.conversationId = conversationId
    return isForeground ? report(at: now) : []
  }

  /// A conversation left the screen. Where another has appeared before it, as views do that slide over each other, that one
  /// stays.
  public mutating func conversationDisappeared(_ conversationId: String, at now: Date) -> [Action] {
    guard conversationId == self.conversationId else { return [] }
    self.conversationId = nil
    return isForeground ? report(at: now) : []
  }

  /// The time of the last `wake` has come. Called too early it gives the time again; called for nothing it does no harm.
  public mutating func timeReached(at now: Date) -> [Action] {
    guard let nextReport else { return [] }
    return now >= nextReport ? report(at: now) : [.wake(at: nextReport)]
  }

  private mutating func report(at now: Date) -> [Action] {
    guard let event = event(.foreground, conversationId, at: now) else { return [] }
    let next = now.addingTimeInterval(Self.interval)
    nextReport = next
    return [.publish(event), .wake(at: next)]
  }

  private mutating func end(at now: Date) -> [Action] {
    nextReport = nil
    guard let event = event(.background, nil, at: now) else { return [] }
    return [.publish(event), .cancelWake]
  }

  private func event(_ state: ClientEvent.ActivityState, _ conversationId: String?, at now: Date) -> ClientEvent? {
    guard let userId else { return nil }
    return ClientEvent(
      eventId: makeId(), occurredAt: now,
      .userActivity(.init(userId: userId, deviceId: deviceId, state: state, conversationId: conversationId)))
  }
}
