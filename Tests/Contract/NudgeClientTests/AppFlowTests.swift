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
    signOut = SignOut(deviceId: device.deviceId, makeId: world.makeId)
  }

  mutating func signedIn(as userId: String) {
    presenter.userChanged(to: userId)
    perform(activity.signedIn(as: userId, at: world.now))
    perform(upload.signedIn(as: userId, at: world.now))
    perform(permission.signedIn())
    perform(router.ready(at: world.now))
  }

  mutating func tokenReceived(_ token: String) { perform(upload.tokenReceived(token, at: world.now)) }

  mutating func pushReceived(_ push: PushPayload) {
    guard push.recipientId == presenter.userId else { return }
    world.publish(.received(push, deviceId: deviceId, eventId: world.makeId(), at: world.now))
    world.show(presenter.receive(push))
  }

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

  mutating func signOutTapped() {
    guard let userId = presenter.userId else { return }
    perform(signOut.begin(userId: userId, at: world.now))
  }

  /// An event was accepted or failed to be published.
  mutating func published(eventId: String, succeeded: Bool) {
    perform(upload.finished(eventId: eventId, succeeded: succeeded, at: world.now))
    perform(signOut.finished(eventId: eventId, succeeded: succeeded))
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
    app.tapped(push)
    #expect(world.takeLines() == ["notification.opened", "\(Router.Action.loadList)", "route at 0"])
    #expect(app.router.listLoaded(at: world.now) == [.open(conversationId: "c1"), .wake(at: at(2))])
    app.conversationAppeared("c1")
    #expect(
      world.takeLines() == ["badge 0", "user.activity", "activity at 60", "\(Router.Action.scroll(messageId: "m1"))"])

    app.signOutTapped()
    #expect(world.takeLines() == ["device.unregistered", "sign-out at 5"])
    app.published(eventId: try #require(world.events.last).eventId, succeeded: true)
    #expect(
      world.takeLines() == [
        "sign-out never", "message.read", "user.activity", "activity never", "token never", "clear notifications",
        "route never",
        "badge 0",
      ])
    app.pushReceived(push)
    #expect(world.takeLines() == [])
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
