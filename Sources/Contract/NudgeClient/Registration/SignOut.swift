public import Foundation

/// The steps of a sign-out in their order (C6): first the services forget the device's token, or fail to within 5 s; then
/// everything of the user goes from the device.
///
/// It does no I/O: calls in, actions out.
public struct SignOut: Sendable {
  /// What the app does next, in the order given.
  public enum Action: Sendable, Equatable {
    /// Publish the event, as the user who signs out, then call `finished(eventId:succeeded:)`.
    case publish(ClientEvent)
    /// Call `timeReached(at:)` at this time.
    case wake(at: Date)
    /// Do not call `timeReached(at:)`.
    case cancelWake
    /// Write this line to the app's log.
    case log(String)
    /// Leave the conversation on the screen: `ActivityReporter.signedOut(at:)`, and `NotificationPresenter.openConversationId`.
    case closeConversation
    /// Forget who is signed in, and their credentials: `NotificationPresenter.userChanged(to:)`, `TokenUpload.signedOut()`.
    case forgetUser
    /// Take banners and delivered notifications away: `BannerQueue.signedOut()`.
    case clearBanners
    /// Drop a link that waits: `Router.signedOut()`.
    case dropPendingLink
    /// Set the number on the icon to 0: `BadgeCounter.signedOut()`.
    case clearBadge
  }

  /// How long the services have to answer, in seconds, before the sign-out goes on without them. The next who signs in on
  /// the device takes the token over in any case.
  public static let patience: TimeInterval = 5

  private let deviceId: String
  private let makeId: @Sendable () -> String
  /// The event whose answer is awaited, and until when.
  private var awaited: (eventId: String, until: Date)?

  /// Sign-outs of this device; `makeId` gives a new id, such as a UUID, for each event.
  public init(deviceId: String, makeId: @escaping @Sendable () -> String) {
    self.deviceId = deviceId
    self.makeId = makeId
  }

  /// Whether a sign-out has begun and not ended.
  public var isUnderWay: Bool { awaited != nil }

  /// The user wants to sign out. While a sign-out is under way this does nothing.
  public mutating func begin(userId: String, at now: Date) -> [Action] {
    guard awaited == nil else { return [] }
    let event = ClientEvent(
      eventId: makeId(), occurredAt: now, .deviceUnregistered(.init(userId: userId, deviceId: deviceId)))
    let until = now.addingTimeInterval(Self.patience)
    awaited = (event.eventId, until)
    return [.publish(event), .wake(at: until)]
  }

  /// The event was accepted, or could not be published; both let the sign-out go on.
  public mutating func finished(eventId: String, succeeded: Bool) -> [Action] {
    guard awaited?.eventId == eventId else { return [] }
    return [.cancelWake] + clear(failure: succeeded ? nil : "could not be told of the sign-out")
  }

  /// The time of `wake` has come.
  public mutating func timeReached(at now: Date) -> [Action] {
    guard let awaited else { return [] }
    guard now >= awaited.until else { return [.wake(at: awaited.until)] }
    return clear(failure: "did not answer to the sign-out within \(Int(Self.patience)) s")
  }

  private mutating func clear(failure: String?) -> [Action] {
    awaited = nil
    return (failure.map { [.log("the services \($0)")] } ?? [])
      + [.closeConversation, .forgetUser, .clearBanners, .dropPendingLink, .clearBadge]
  }
}
