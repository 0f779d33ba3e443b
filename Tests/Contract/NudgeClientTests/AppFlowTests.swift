import Foundation
import NudgeClient
import TestSupport
import Testing

// The code between the two marks equals the example of docs/apps.md.
// example: begin
/// The values of an app together. Events go in; `AppWorld` carries the actions out.
struct AppFlow<World: AppWorld> {
  let world: World
  let deviceId: String
  var permission: NotificationPermission
  var upload: TokenUpload
  var activity: ActivityReporter
  var signOut: SignOut
  var presenter = NotificationPresenter(userId: nil, isForeground: true)
  var router = Router()
  var badge = BadgeCounter()

  init(device: Device, status: NotificationPermission.Status, world: World) {
    self.world = world
    deviceId = device.deviceId
    permission = NotificationPermission(status: status)
    upload = TokenUpload(device: device, makeId: world.makeId)
    activity = ActivityReporter(deviceId: device.deviceId, isForeground: true, makeId: world.makeId)
    signOut = SignOut(deviceId: device.deviceId, kept: world.keptSignOuts, makeId: world.makeId)
  }

  /// At launch: `number` is on the icon, and `delivered` are the pushes in the notification centre.
  mutating func launched(showing number: Int, delivered: [PushPayload]) {
    _ = badge.launched(showing: number, delivered: delivered)
    perform(signOut.retry(at: world.now))
  }

  /// There is a network again.
  mutating func networkReturned() { perform(signOut.retry(at: world.now)) }

  mutating func signedIn(as userId: String) {
    presenter.userChanged(to: userId)
    perform(signOut.signedIn())
    perform(activity.signedIn(as: userId, at: world.now))
    perform(upload.signedIn(as: userId, at: world.now))
    perform(permission.signedIn())
    perform(router.ready(at: world.now))
  }

  mutating func tokenReceived(_ token: String) { perform(upload.tokenReceived(token, at: world.now)) }

  mutating func pushReceived(_ push: PushPayload) {
    guard push.recipientId == presenter.userId else { return }
    world.publish(.received(push, deviceId: deviceId, eventId: world.makeId(), at: world.now))
    let action = presenter.receive(push)
    world.show(action)
    if case .drop = action { return }
    world.setBadge(badge.received(push))
  }

  /// The user touched the screen or typed.
  mutating func interacted() { perform(activity.interacted(at: world.now)) }

  mutating func tapped(_ push: PushPayload) {
    let actions = NotificationActions(userId: presenter.userId, deviceId: deviceId, makeId: world.makeId)
    guard case .open(let route, let event) = actions.plan(for: .open, to: push, at: world.now) else { return }
    world.publish(event)
    perform(router.receive(route, at: world.now))
  }

  mutating func conversationAppeared(_ conversationId: String) {
    presenter.openConversationId = conversationId
    world.setBadge(badge.opened(conversationId))
    perform(activity.conversationAppeared(conversationId, at: world.now))
    perform(router.opened(conversationId, at: world.now))
  }

  mutating func conversationDisappeared(_ conversationId: String) {
    presenter.openConversationId = nil
    badge.closed()
    perform(activity.conversationDisappeared(conversationId, at: world.now))
  }

  mutating func signOutTapped() {
    guard let userId = presenter.userId else { return }
    perform(signOut.begin(userId: userId, at: world.now))
  }

  /// An event was accepted or failed to be published.
  mutating func published(eventId: String, succeeded: Bool) {
    perform(upload.finished(eventId: eventId, succeeded: succeeded, at: world.now))
    perform(signOut.finished(eventId: eventId, succeeded: succeeded))
  }

  /// FCM's token was deleted or could not be.
  mutating func tokenDeleted(succeeded: Bool) {
    if succeeded { perform(upload.tokenDeleted()) }
    perform(signOut.tokenDeleted(succeeded: succeeded))
  }

  private func perform(_ actions: [Router.Action]) {
    for action in actions {
      switch action {
      case .wake(let time): world.wake("route", at: time)
      case .cancelWake: world.wake("route", at: nil)
      case .loadList, .open, .scroll, .highlight, .tell: world.show(action)
      }
    }
  }

  private func perform(_ actions: [TokenUpload.Action]) {
    for action in actions {
      switch action {
      case .publish(let event): world.publish(event)
      case .cancel(let eventId): world.cancel(eventId)
      case .wake(let time): world.wake("token", at: time)
      case .cancelWake: world.wake("token", at: nil)
      case .log(let line): world.log(line)
      }
    }
  }

  private func perform(_ actions: [ActivityReporter.Action]) {
    for action in actions {
      switch action {
      case .publish(let event): world.publish(event)
      case .wake(let time): world.wake("activity", at: time)
      case .cancelWake: world.wake("activity", at: nil)
      }
    }
  }

  private mutating func perform(_ actions: [NotificationPermission.Action]) {
    for action in actions {
      switch action {
      case .forgetToken: perform(upload.permissionDenied(at: world.now))
      case .explain, .ask, .register, .showBanner, .hideBanner, .openSettings: world.show(action)
      }
    }
  }

  private mutating func perform(_ actions: [SignOut.Action]) {
    for action in actions {
      switch action {
      case .publish(let event): world.publish(event)
      case .wake(let time): world.wake("sign-out", at: time)
      case .cancelWake: world.wake("sign-out", at: nil)
      case .log(let line): world.log(line)
      case .deleteToken: world.deleteToken()
      case .keep(let kept): world.keep(kept)
      case .removeKept: world.keep(SignOut.Kept())
      case .closeConversation:
        perform(activity.signedOut(at: world.now))
        presenter.openConversationId = nil
      case .forgetUser:
        perform(upload.signedOut())
        perform(permission.signedOut())
        presenter.userChanged(to: nil)
      case .clearBanners: world.clearNotifications()
      case .dropPendingLink: perform(router.signedOut())
      case .clearBadge: world.setBadge(badge.signedOut())
      }
    }
  }
}

/// The parts that only the app itself can do.
protocol AppWorld {
  var now: Date { get }
  var makeId: @Sendable () -> String { get }
  /// What `keep` stored, as of the last launch.
  var keptSignOuts: SignOut.Kept { get }
  func keep(_ kept: SignOut.Kept)
  func deleteToken()
  func publish(_ event: ClientEvent)
  func cancel(_ eventId: String)
  func wake(_ what: String, at time: Date?)
  func log(_ line: String)
  func show(_ action: NotificationPermission.Action)
  func show(_ action: NotificationPresenter.Action)
  func show(_ action: Router.Action)
  func setBadge(_ number: Int)
  func clearNotifications()
}
// example: end

/// Writes down what it is to do.
private final class RecordedWorld: AppWorld {
  var now = at(0)
  let makeId = countingIds()
  var lines: [String] = []
  var events: [ClientEvent] = []
  var keptSignOuts = SignOut.Kept()

  func keep(_ kept: SignOut.Kept) {
    keptSignOuts = kept
    lines.append("keep \(kept.events.count)\(kept.deletesToken ? " and the token" : "")")
  }
  func deleteToken() { lines.append("delete the token") }
  func publish(_ event: ClientEvent) {
    events.append(event)
    lines.append(event.body.type)
  }
  func cancel(_ eventId: String) { lines.append("cancel \(eventId)") }
  func wake(_ what: String, at time: Date?) {
    lines.append("\(what) \(time.map { "at \(Int($0.timeIntervalSince(at(0))))" } ?? "never")")
  }
  func log(_ line: String) { lines.append(line) }
  func show(_ action: NotificationPermission.Action) { lines.append("\(action)") }
  func show(_ action: NotificationPresenter.Action) { lines.append("\(action)") }
  func show(_ action: Router.Action) { lines.append("\(action)") }
  func setBadge(_ number: Int) { lines.append("badge \(number)") }
  func clearNotifications() { lines.append("clear notifications") }

  func takeLines() -> [String] {
    defer { lines = [] }
    return lines
  }
}

@Suite("The app flow of docs/apps.md")
struct AppFlowTests {
  @Test("From sign-in to sign-out: registered, active, notified, tapped; then nothing of the user is left")
  func flow() throws {
    let world = RecordedWorld()
    var app = AppFlow(device: Device(deviceId: "d1", platform: .ios), status: .authorized, world: world)
    app.tokenReceived("t")
    #expect(world.takeLines() == [])
    app.signedIn(as: "ann")
    #expect(world.takeLines() == ["user.activity", "activity at 60", "device.registered", "register"])
    let registration = try #require(world.events.last)
    app.published(eventId: registration.eventId, succeeded: false)
    #expect(world.takeLines() == ["token at 1"])

    let push = try PushPayload(data: [
      "type": "smart_notification", "priority": "high", "conversationId": "c1", "messageId": "m1", "senderId": "bob",
      "pushId": "p1", "recipientId": "ann", "badge": "1", "timestamp": "1000",
    ])
    app.pushReceived(push)
    #expect(world.takeLines().first == "notification.received")
    // Another push that this phone shows nothing of says that two more conversations are unread.
    app.pushReceived(
      try PushPayload(data: ["type": "badge", "badge": "3", "pushId": "p2", "recipientId": "ann"]))
    #expect(world.takeLines().last == "badge 3")
    app.tapped(push)
    #expect(world.takeLines() == ["notification.opened", "\(Router.Action.loadList)", "route at 0"])
    #expect(app.router.listLoaded(at: world.now) == [.open(conversationId: "c1"), .wake(at: at(2))])
    app.conversationAppeared("c1")
    #expect(
      world.takeLines() == ["badge 2", "user.activity", "activity at 60", "\(Router.Action.scroll(messageId: "m1"))"])

    app.signOutTapped()
    #expect(world.takeLines() == ["keep 1", "device.unregistered", "sign-out at 5"])
    app.published(eventId: try #require(world.events.last).eventId, succeeded: true)
    #expect(
      world.takeLines() == [
        "keep 0", "sign-out never", "message.read", "user.activity", "activity never", "token never",
        "clear notifications",
        "route never",
        "badge 0",
      ])
    app.pushReceived(push)
    #expect(world.takeLines() == [])
  }

  @Test("C6: signed out without a network, the app tells the services at its next launch, and FCM at once")
  func signOutOffline() throws {
    let world = RecordedWorld()
    var app = AppFlow(device: Device(deviceId: "d1", platform: .ios), status: .authorized, world: world)
    app.signedIn(as: "ann")
    app.signOutTapped()
    let end = try #require(world.events.last)
    _ = world.takeLines()
    app.published(eventId: end.eventId, succeeded: false)
    #expect(
      world.takeLines() == [
        "sign-out never", "the services did not accept the sign-out; it is repeated at the next launch",
        "keep 1 and the token", "user.activity", "activity never", "delete the token", "clear notifications", "badge 0",
      ])
    app.tokenDeleted(succeeded: false)
    #expect(world.takeLines() == [])

    var next = AppFlow(device: Device(deviceId: "d1", platform: .ios), status: .authorized, world: world)
    next.launched(showing: 0, delivered: [])
    #expect(world.takeLines() == ["device.unregistered", "delete the token"])
    #expect(world.events.last == end)
    next.tokenDeleted(succeeded: true)
    next.published(eventId: end.eventId, succeeded: true)
    #expect(world.takeLines() == ["keep 1", "keep 0"])
    #expect(world.keptSignOuts.isEmpty)
  }

  @Test("C9: an app that was just launched takes what it reads from the number on its icon")
  func launched() throws {
    let world = RecordedWorld()
    var app = AppFlow(device: Device(deviceId: "d1", platform: .ios), status: .authorized, world: world)
    let push = try PushPayload(data: [
      "type": "new_message", "priority": "high", "conversationId": "c1", "messageId": "m1", "senderId": "bob",
      "pushId": "p1", "recipientId": "ann", "badge": "4", "timestamp": "1000",
    ])
    app.launched(showing: 5, delivered: [push])
    app.signedIn(as: "ann")
    _ = world.takeLines()
    app.conversationAppeared("c1")
    #expect(world.takeLines().first == "badge 4")
  }

  @Test("The example in docs/apps.md is the one that is compiled here")
  func documented() throws {
    let test = URL(fileURLWithPath: #filePath)
    let source = try String(contentsOf: test, encoding: .utf8)
    let begin = try #require(source.range(of: "// example: begin\n"))
    let end = try #require(source.range(of: "// example: end\n"))
    let docs = try String(contentsOf: Repository.file("docs/apps.md"), encoding: .utf8)
    #expect(docs.contains("```swift\n" + source[begin.upperBound..<end.lowerBound] + "```"))
  }
}
