import Foundation
import NudgeClient
import TestSupport
import Testing

// The code between the two marks equals that of docs/push-in-50-lines.md.
// example: begin
/// Stands between FCM, the notification centre and Nudge.
final class PushClient {
  let deviceId: String
  let post: (ClientEvent) -> Void  // POST /v1/events with the user's JWT
  let show: (Router.Action) -> Void  // open a conversation, scroll, highlight
  let makeId: @Sendable () -> String = { UUID().uuidString }
  var upload: TokenUpload
  var presenter = NotificationPresenter(userId: nil, isForeground: true)
  var router = Router()

  init(device: Device, post: @escaping (ClientEvent) -> Void, show: @escaping (Router.Action) -> Void) {
    (deviceId, self.post, self.show) = (device.deviceId, post, show)
    upload = TokenUpload(device: device, makeId: makeId)
  }

  // 1. A user signs in and FCM delivers a token. Nudge learns which device is theirs.
  func signedIn(as userId: String) {
    presenter.userChanged(to: userId)
    for case .publish(let event) in upload.signedIn(as: userId, at: Date()) { post(event) }
    router.ready(at: Date()).forEach(show)
  }
  func tokenReceived(_ token: String) {
    for case .publish(let event) in upload.tokenReceived(token, at: Date()) { post(event) }
  }

  // 2. A push arrives: `willPresent`, or `didReceiveRemoteNotification` in the background.
  func received(_ userInfo: [AnyHashable: Any]) -> NotificationPresenter.Action? {
    guard let push = try? PushPayload(userInfo: userInfo) else { return nil }
    if push.recipientId == presenter.userId {
      post(.received(push, deviceId: deviceId, eventId: makeId(), at: Date()))
    }
    return presenter.receive(push)  // .present(options, badge:), .removeNotifications(mark, badge:), …
  }

  // 3. The user taps the notification or presses a button: `didReceive response`.
  func responded(_ action: String, text: String?, to userInfo: [AnyHashable: Any]) {
    guard let push = try? PushPayload(userInfo: userInfo),
      let response = NotificationResponse(actionIdentifier: action, userText: text)
    else { return }
    let actions = NotificationActions(userId: presenter.userId, deviceId: deviceId, makeId: makeId)
    switch actions.plan(for: response, to: push, at: Date()) {
    case .publish(let event): post(event)  // a reply, Mark Read, 👍 or 👎
    case .open(let route, let event):
      post(event)
      router.receive(route, at: Date()).forEach(show)
    case .openCatchUp(let catchUp):  // a list of what was missed; here its first message is opened
      catchUp.lines.first.map { router.receive($0.route, at: Date()).forEach(show) }
    case .refuse, .none: break  // nobody is signed in, or the push is for another account
    }
  }
}
// example: end

@Suite("The code of docs/push-in-50-lines.md")
struct FiftyLinesTests {
  @Test("It registers the device, presents a push, sends a reply and opens the tapped message")
  func works() throws {
    var posted: [ClientEvent] = []
    var shown: [Router.Action] = []
    let client = PushClient(
      device: Device(deviceId: "d1", platform: .ios), post: { posted.append($0) }, show: { shown.append($0) })
    client.signedIn(as: "ada")
    client.tokenReceived("t")
    #expect(posted.map(\.body.type) == ["device.registered"])
    let push = messageData(["presentation": "silent"])
    #expect(client.received(push) == .present([.banner, .list, .badge], badge: 3))
    #expect(client.received(["aps": ["alert": "not Nudge's"]]) == nil)
    client.responded("REPLY_ACTION", text: "On my way", to: push)
    client.responded("com.apple.UNNotificationDefaultActionIdentifier", text: nil, to: push)
    #expect(
      posted.map(\.body.type) == [
        "device.registered", "notification.received", "message.created", "notification.opened",
      ])
    #expect(shown.first == .loadList)
    #expect(client.router.listLoaded(at: Date()).first == .open(conversationId: "c1"))
  }

  @Test("The article has this code, and it is 50 lines at most")
  func documented() throws {
    let source = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
    let begin = try #require(source.range(of: "// example: begin\n"))
    let end = try #require(source.range(of: "// example: end\n"))
    let example = source[begin.upperBound..<end.lowerBound]
    let docs = try String(contentsOf: Repository.file("docs/push-in-50-lines.md"), encoding: .utf8)
    #expect(docs.contains("```swift\nimport Foundation\nimport NudgeClient\n\n" + example + "```"))
    let lines = example.split(separator: "\n").filter { !$0.trimmingCharacters(in: .whitespaces).hasPrefix("//") }
    #expect(lines.count <= 50)
  }
}
