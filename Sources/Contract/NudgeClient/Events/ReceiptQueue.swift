public import Foundation

/// Publishes what happened to notifications (`notification.received`, `opened`, `dismissed`), several events in one
/// request. It also works in the process of an iOS notification service extension.
///
/// App and extension share a folder of their App Group. It has a file for each event that is not accepted yet, named
/// after the event's id. An event that both publish counts once. The queue does no I/O: calls in, actions out.
///
/// ```swift
/// // UNNotificationServiceExtension.didReceive(_:withContentHandler:)
/// var queue = ReceiptQueue(in: .serviceExtension)
/// perform(queue.found(readFolder(), at: Date()))
/// if let push = try? PushPayload(userInfo: request.content.userInfo) {
///   perform(queue.received(push, deviceId: deviceId, at: Date()))
/// }
/// contentHandler(content)
/// ```
public struct ReceiptQueue: Sendable {
  /// A step that the app takes. Take the steps in the order given.
  public enum Action: Sendable, Equatable {
    /// Write the event to the shared folder, under its id.
    case keep(ClientEvent)
    /// Publish the events as an array in one request, then call `finished(succeeded:at:)`.
    case publish([ClientEvent])
    /// Remove the events with these ids from the shared folder.
    case remove(eventIds: [String])
    /// Call `timeReached(at:)` at this time. A later `wake` replaces it.
    case wake(at: Date)
    /// Cancel the call of `timeReached(at:)`.
    case cancelWake
  }

  /// The process in which the queue runs.
  public enum Process: Sendable {
    /// The app. It collects events for a few seconds.
    case app
    /// A notification service extension, which ends soon after each push. It publishes at once.
    case serviceExtension
  }

  /// The seconds for which the app collects events.
  public static let gatheringTime: TimeInterval = 5
  /// The most events in a request.
  public static let batchSize = 50
  /// The most events that wait. When there are more, the oldest is dropped.
  public static let capacity = 500
  /// The seconds after which an event is dropped, because the services record receipts only for a day.
  public static let lifetime: TimeInterval = 86_400
  /// The seconds before the next attempt: after the first, second and third failure in a row, and the last one after
  /// each further failure.
  public static let retryDelays: [TimeInterval] = [5, 30, 300]

  private let process: Process
  /// The events in the order in which they happened.
  private var waiting: [ClientEvent] = []
  /// How many of them, from the first, are being published.
  private var inFlight = 0
  private var failures = 0
  private var due: Date?

  /// An empty queue.
  public init(in process: Process) { self.process = process }

  /// The number of events that are not accepted yet.
  public var count: Int { waiting.count }

  /// The shared folder contains these events, in any order. Call it at launch, whenever the app enters the foreground,
  /// and in each call of the extension.
  public mutating func found(_ events: [ClientEvent], at now: Date) -> [Action] {
    let known = Set(waiting.map(\.eventId))
    let new = events.filter { !known.contains($0.eventId) }.sorted { $0.occurredAt < $1.occurredAt }
    guard !new.isEmpty else { return [] }
    waiting += new
    return trim(at: now) + go(at: now)
  }

  /// A push arrived. Pushes without a message produce no receipt.
  public mutating func received(_ push: PushPayload, deviceId: String, at now: Date) -> [Action] {
    guard case .message = push.content else { return [] }
    return report(
      .received(push, deviceId: deviceId, eventId: Self.eventId("received", push.pushId, deviceId), at: now), at: now)
  }

  /// The app has shown a banner (`BannerQueue.Action.show`), and its stream was opened with `answers=true`. The push of
  /// its message waits 2 seconds for this answer, so it is published at once.
  public mutating func shown(_ banner: InAppBanner, deviceId: String, at now: Date) -> [Action] {
    guard let notification = ClientEvent.Notification(banner, deviceId: deviceId) else { return [] }
    let event = ClientEvent(
      eventId: Self.eventId("shown", notification.pushId, deviceId), occurredAt: now,
      .notification(.received, notification))
    return report(event, at: now)
  }

  /// The user opened or dismissed a notification. `event` comes from `NotificationActions`.
  public mutating func report(_ event: ClientEvent, at now: Date) -> [Action] {
    guard !waiting.contains(where: { $0.eventId == event.eventId }) else { return [] }
    waiting.append(event)
    return [.keep(event)] + trim(at: now) + go(at: now)
  }

  /// The request was accepted or failed. It counts as accepted even if the services refused some of its events, because
  /// they would refuse them again.
  public mutating func finished(succeeded: Bool, at now: Date) -> [Action] {
    guard inFlight > 0 else { return [] }
    let done = waiting.prefix(inFlight).map(\.eventId)
    inFlight = 0
    guard succeeded else {
      let delay = Self.retryDelays[min(failures, Self.retryDelays.count - 1)]
      failures += 1
      return trim(at: now) + (waiting.isEmpty ? [] : wake(at: now.addingTimeInterval(delay)))
    }
    failures = 0
    waiting.removeFirst(done.count)
    return [.remove(eventIds: done)] + go(at: now)
  }

  /// The time of the last `wake` has come. A call that is early or late is harmless.
  public mutating func timeReached(at now: Date) -> [Action] {
    guard let due else { return [] }
    guard now >= due else { return [.wake(at: due)] }
    self.due = nil
    return trim(at: now) + publish()
  }

  /// The app enters the background, is about to end, or has a network again: publishes the waiting events.
  public mutating func flush() -> [Action] {
    let hadTimer = due != nil
    due = nil
    return publish() + (hadTimer ? [.cancelWake] : [])
  }

  /// The user signed out: drops their events, which need credentials that are gone.
  public mutating func signedOut() -> [Action] {
    let ids = waiting.map(\.eventId)
    let hadTimer = due != nil
    self = ReceiptQueue(in: process)
    return (ids.isEmpty ? [] : [.remove(eventIds: ids)]) + (hadTimer ? [.cancelWake] : [])
  }

  /// Publishes now, or later together with further events.
  private mutating func go(at now: Date) -> [Action] {
    guard inFlight == 0, !waiting.isEmpty else { return [] }
    if waiting.contains(where: \.isAnswer) { return flush() }
    guard due == nil else { return [] }
    return process == .serviceExtension || waiting.count >= Self.batchSize
      ? publish() : wake(at: now.addingTimeInterval(Self.gatheringTime))
  }

  private mutating func publish() -> [Action] {
    guard inFlight == 0, !waiting.isEmpty else { return [] }
    inFlight = min(waiting.count, Self.batchSize)
    return [.publish(Array(waiting.prefix(inFlight)))]
  }

  private mutating func wake(at time: Date) -> [Action] {
    due = time
    return [.wake(at: time)]
  }

  /// Drops events that are too old, and the oldest if there are too many. Events that are being published stay.
  private mutating func trim(at now: Date) -> [Action] {
    let oldest = Int64((now.timeIntervalSince1970 - Self.lifetime) * 1_000)
    let tail = waiting.dropFirst(inFlight)
    var kept = tail.filter { $0.occurredAt >= oldest }
    kept = Array(kept.suffix(max(0, Self.capacity - inFlight)))
    guard kept.count < tail.count else { return [] }
    let left = Set(kept.map(\.eventId))
    let dropped = tail.map(\.eventId).filter { !left.contains($0) }
    waiting = Array(waiting.prefix(inFlight)) + kept
    return [.remove(eventIds: dropped)]
  }

  /// Both processes compute the same id, so a push that both of them see gives one event.
  private static func eventId(_ change: String, _ pushId: String, _ deviceId: String) -> String {
    let id = "\(change).\(pushId).\(deviceId)"
    return id.count <= 128 ? id : String(id.prefix(128))
  }
}

extension ClientEvent {
  /// Whether a push waits for the event.
  fileprivate var isAnswer: Bool {
    if case .notification(_, let notification) = body { notification.banner == true } else { false }
  }
}
