public import Foundation

/// The steps of a sign-out (C6). First the services remove the device's token, or fail to do so within 5 s. Then the
/// app removes everything of the user from the device.
///
/// A sign-out that the services did not accept, for example without a network, is kept. It is repeated at the next
/// launch and when a network is available again. Meanwhile FCM's token is deleted, which needs no user. FCM then
/// refuses pushes that the services still send to it.
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
    /// Publish the event as the user who signs out, then call `finished(eventId:succeeded:)`. Keep the user's
    /// credentials as long as the sign-out is kept. Report a success if the credentials are no longer accepted, because
    /// a repetition would not help.
    case publish(ClientEvent)
    /// Call `timeReached(at:)` at this time.
    case wake(at: Date)
    /// Cancel the call of `timeReached(at:)`.
    case cancelWake
    /// Write this line to the app's log.
    case log(String)
    /// Delete FCM's registration token (`Messaging.messaging().deleteToken`), then call `tokenDeleted(succeeded:)`. Do
    /// not wait for the deletion. FCM then delivers another token: `TokenUpload.tokenReceived(_:at:)`.
    case deleteToken
    /// Store this value permanently in place of the former one, and pass it to `init` at the next launch.
    case keep(Kept)
    /// Remove the stored value.
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

  /// Sign-outs that the services did not accept, with the remaining steps.
  public struct Kept: Codable, Sendable, Equatable {
    /// The events that remain to be published, the oldest first.
    public internal(set) var events: [ClientEvent] = []
    /// Whether FCM's token remains to be deleted.
    public internal(set) var deletesToken = false

    /// No sign-outs.
    public init() {}

    /// Whether no step remains.
    public var isEmpty: Bool { events.isEmpty && !deletesToken }
  }

  /// The seconds that the services have to answer before the sign-out continues without them.
  public static let patience: TimeInterval = 5
  /// The seconds after which a kept event is dropped, because the services refuse events that are older than 7 days.
  public static let lifetime: TimeInterval = 7 * 86_400
  /// The most events that are kept.
  static let capacity = 8

  private let deviceId: String
  private let makeId: @Sendable () -> String
  /// The event in progress, and when the sign-out continues without an answer.
  private var awaited: (eventId: String, until: Date)?
  /// The remaining steps of earlier sign-outs.
  public private(set) var kept: Kept

  /// Sign-outs on this device. `kept` is the value of the last `keep`. `makeId` returns a new id, such as a UUID, for
  /// each event.
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
    // The value is stored first, because the app may end at any time.
    return [store, .publish(event), .wake(at: until)]
  }

  /// The event was accepted, or publishing it failed. A sign-out in progress continues in both cases.
  public mutating func finished(eventId: String, succeeded: Bool) -> [Action] {
    var actions: [Action] = []
    if succeeded, kept.events.contains(where: { $0.eventId == eventId }) {
      kept.events.removeAll { $0.eventId == eventId }
      // The services no longer send to the token.
      if kept.events.isEmpty { kept.deletesToken = false }
      actions.append(store)
    }
    guard awaited?.eventId == eventId else { return actions }
    return actions + [.cancelWake] + clear(failure: succeeded ? nil : "did not accept the sign-out")
  }

  /// FCM's token was deleted, or the deletion failed.
  public mutating func tokenDeleted(succeeded: Bool) -> [Action] {
    guard succeeded, kept.deletesToken else { return [] }
    kept.deletesToken = false
    return [store]
  }

  /// The app was launched, or a network is available again: repeats what the services or FCM did not accept.
  public mutating func retry(at now: Date) -> [Action] {
    guard !kept.isEmpty else { return [] }
    let oldest = Int64((now.timeIntervalSince1970 - Self.lifetime) * 1_000)
    let before = kept
    kept.events.removeAll { $0.occurredAt < oldest }
    let again = kept.events.filter { $0.eventId != awaited?.eventId }
    return (kept == before ? [] : [store]) + again.map { .publish($0) } + (kept.deletesToken ? [.deleteToken] : [])
  }

  /// A user has signed in: FCM's token is now theirs, so it stays.
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
    // The token is deleted after `forgetUser`, so that the next token is not uploaded for the former user.
    return [
      .log("the services \(failure); it is repeated at the next launch"), store, .closeConversation, .forgetUser,
      .deleteToken,
    ] + rest
  }
}
