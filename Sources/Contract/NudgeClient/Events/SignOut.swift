public import Foundation

/// The steps of a sign-out (C6): first the services remove the device's token, or fail to do so within 5 s; then the app
/// removes everything of the user from the device.
///
/// A sign-out that the services did not accept, as without a network, is kept and repeated at the next launch and when there is a network
/// again. Until then FCM's token is deleted, which needs no user: FCM then refuses what the services still send to it.
///
/// It does no I/O: calls in, actions out.
///
/// ```swift
/// var signOut = SignOut(deviceId: deviceId, kept: storedSignOuts, makeId: { UUID().uuidString })
/// perform(signOut.retry(at: Date()))                 // at launch, and when there is a network again
/// perform(signOut.begin(userId: "ann", at: Date()))
/// // When the event was accepted or failed:
/// perform(signOut.finished(eventId: event.eventId, succeeded: true))
/// ```
public struct SignOut: Sendable {
  /// A step that the app takes. Take the steps in the order given.
  public enum Action: Sendable, Equatable {
    /// Publish the event as the user who signs out, then call `finished(eventId:succeeded:)`. Keep the credentials for it as long as
    /// the sign-out is kept. Credentials that are no longer accepted are a success: no repetition would help.
    case publish(ClientEvent)
    /// Call `timeReached(at:)` at this time.
    case wake(at: Date)
    /// Cancel the call of `timeReached(at:)`.
    case cancelWake
    /// Write this line to the app's log.
    case log(String)
    /// Delete FCM's registration token (`Messaging.messaging().deleteToken`), then call `tokenDeleted(succeeded:)`. Do not wait for
    /// it. The next token that FCM delivers is another: `TokenUpload.tokenReceived(_:at:)`.
    case deleteToken
    /// Store this where it outlives the app, in place of what was stored before, and pass it to `init` at the next launch.
    case keep(Kept)
    /// Remove what was stored.
    case removeKept
    /// Leave the conversation on the screen: `ActivityReporter.signedOut(at:)`, and `NotificationPresenter.openConversationId`.
    case closeConversation
    /// Forget the signed-in user and their credentials: `NotificationPresenter.userChanged(to:)`, `TokenUpload.signedOut()`.
    case forgetUser
    /// Remove banners and delivered notifications: `BannerQueue.signedOut()`.
    case clearBanners
    /// Drop a pending link: `Router.signedOut()`.
    case dropPendingLink
    /// Set the number on the icon to 0: `BadgeCounter.signedOut()`.
    case clearBadge
  }

  /// Sign-outs that the services did not accept, with the steps that are left.
  public struct Kept: Codable, Sendable, Equatable {
    /// The events to publish, the oldest first.
    public internal(set) var events: [ClientEvent] = []
    /// Whether FCM's token is to be deleted.
    public internal(set) var deletesToken = false

    /// Nothing.
    public init() {}

    /// Whether nothing is left.
    public var isEmpty: Bool { events.isEmpty && !deletesToken }
  }

  /// The seconds that the services have to answer before the sign-out continues without them.
  public static let patience: TimeInterval = 5
  /// The seconds after which a kept event is dropped: the services refuse events that are older than 7 days.
  public static let lifetime: TimeInterval = 7 * 86_400
  /// The most events that are kept.
  static let capacity = 8

  private let deviceId: String
  private let makeId: @Sendable () -> String
  /// The published event, and when the sign-out continues without its answer.
  private var awaited: (eventId: String, until: Date)?
  /// The steps that are left of earlier sign-outs.
  public private(set) var kept: Kept

  /// Sign-outs on this device. `kept` is what was stored for the last `keep`. `makeId` returns a new id, such as a UUID, for each
  /// event.
  public init(deviceId: String, kept: Kept = Kept(), makeId: @escaping @Sendable () -> String) {
    self.deviceId = deviceId
    self.kept = kept
    self.makeId = makeId
  }

  /// Whether a sign-out is in progress.
  public var isInProgress: Bool { awaited != nil }

  /// The user wants to sign out. Does nothing while a sign-out is in progress.
  public mutating func begin(userId: String, at now: Date) -> [Action] {
    guard awaited == nil else { return [] }
    let event = ClientEvent(
      eventId: makeId(), occurredAt: now, .deviceUnregistered(.init(userId: userId, deviceId: deviceId)))
    let until = now.addingTimeInterval(Self.patience)
    awaited = (event.eventId, until)
    kept.events = kept.events.suffix(Self.capacity - 1) + [event]
    // Before it is published: the app may be ended at any time.
    return [store, .publish(event), .wake(at: until)]
  }

  /// The event was accepted or failed to be published. A sign-out in progress continues in both cases.
  public mutating func finished(eventId: String, succeeded: Bool) -> [Action] {
    var actions: [Action] = []
    if succeeded, kept.events.contains(where: { $0.eventId == eventId }) {
      kept.events.removeAll { $0.eventId == eventId }
      // Nothing is sent to the token any more.
      if kept.events.isEmpty { kept.deletesToken = false }
      actions.append(store)
    }
    guard awaited?.eventId == eventId else { return actions }
    return actions + [.cancelWake] + clear(failure: succeeded ? nil : "did not accept the sign-out")
  }

  /// FCM's token was deleted or could not be.
  public mutating func tokenDeleted(succeeded: Bool) -> [Action] {
    guard succeeded, kept.deletesToken else { return [] }
    kept.deletesToken = false
    return [store]
  }

  /// The app was launched, or there is a network again: repeats what the services or FCM did not accept.
  public mutating func retry(at now: Date) -> [Action] {
    guard !kept.isEmpty else { return [] }
    let oldest = Int64((now.timeIntervalSince1970 - Self.lifetime) * 1_000)
    let before = kept
    kept.events.removeAll { $0.occurredAt < oldest }
    let again = kept.events.filter { $0.eventId != awaited?.eventId }
    return (kept == before ? [] : [store]) + again.map { .publish($0) } + (kept.deletesToken ? [.deleteToken] : [])
  }

  /// A user has signed in: FCM's token is theirs, and stays.
  public mutating func signedIn() -> [Action] {
    guard kept.deletesToken else { return [] }
    kept.deletesToken = false
    return [store]
  }

  /// The time of `wake` has come.
  public mutating func timeReached(at now: Date) -> [Action] {
    guard let awaited else { return [] }
    guard now >= awaited.until else { return [.wake(at: awaited.until)] }
    return clear(failure: "did not answer the sign-out within \(Int(Self.patience)) s")
  }

  private var store: Action { kept.isEmpty ? .removeKept : .keep(kept) }

  private mutating func clear(failure: String?) -> [Action] {
    awaited = nil
    let rest: [Action] = [.clearBanners, .dropPendingLink, .clearBadge]
    guard let failure else { return [.closeConversation, .forgetUser] + rest }
    kept.deletesToken = true
    // Behind `forgetUser`: the next token must not be uploaded for them.
    return [
      .log("the services \(failure); it is repeated at the next launch"), store, .closeConversation, .forgetUser,
      .deleteToken,
    ] + rest
  }
}
