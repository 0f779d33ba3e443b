public import Foundation

/// The steps of a sign-out (C6): first the services remove the device's token, or fail to do so within 5 s; then the app
/// removes everything of the user from the device.
///
/// It does no I/O: calls in, actions out.
///
/// ```swift
/// var signOut = SignOut(deviceId: deviceId, makeId: { UUID().uuidString })
/// perform(signOut.begin(userId: "ann", at: Date()))
/// // When the event was accepted or failed:
/// perform(signOut.finished(eventId: event.eventId, succeeded: true))
/// ```
public struct SignOut: Sendable {
  /// A step that the app takes. Take the steps in the order given.
  public enum Action: Sendable, Equatable {
    /// Publish the event as the user who signs out, then call `finished(eventId:succeeded:)`.
    case publish(ClientEvent)
    /// Call `timeReached(at:)` at this time.
    case wake(at: Date)
    /// Cancel the call of `timeReached(at:)`.
    case cancelWake
    /// Write this line to the app's log.
    case log(String)
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

  /// The seconds that the services have to answer before the sign-out continues without them. The next user who signs in on
  /// the device takes the token over in any case.
  public static let patience: TimeInterval = 5

  private let deviceId: String
  private let makeId: @Sendable () -> String
  /// The published event, and when the sign-out continues without its answer.
  private var awaited: (eventId: String, until: Date)?

  /// Sign-outs on this device. `makeId` returns a new id, such as a UUID, for each event.
  public init(deviceId: String, makeId: @escaping @Sendable () -> String) {
    self.deviceId = deviceId
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
    return [.publish(event), .wake(at: until)]
  }

  /// The event was accepted or failed to be published. The sign-out continues in both cases.
  public mutating func finished(eventId: String, succeeded: Bool) -> [Action] {
    guard awaited?.eventId == eventId else { return [] }
    return [.cancelWake] + clear(failure: succeeded ? nil : "did not accept the sign-out")
  }

  /// The time of `wake` has come.
  public mutating func timeReached(at now: Date) -> [Action] {
    guard let awaited else { return [] }
    guard now >= awaited.until else { return [.wake(at: awaited.until)] }
    return clear(failure: "did not answer the sign-out within \(Int(Self.patience)) s")
  }

  private mutating func clear(failure: String?) -> [Action] {
    awaited = nil
    return (failure.map { [.log("the services \($0)")] } ?? [])
      + [.closeConversation, .forgetUser, .clearBanners, .dropPendingLink, .clearBadge]
  }
}
