import Foundation
import NudgeClient
import TestSupport
import Testing

/// The vectors of `Schemas/app`, which apps in other languages run too.
@Suite("C1 to C6, C9: the vectors of Schemas/app")
struct VectorTests {
  private typealias Object = [String: Any]

  private func cases(_ file: String) throws -> [Object] {
    let data = try Data(contentsOf: Repository.file("Schemas/app/\(file).json"))
    let document = try #require(JSONSerialization.jsonObject(with: data) as? Object)
    #expect((document["description"] as? String)?.isEmpty == false)
    let cases = try #require(document["cases"] as? [Object])
    #expect(cases.count > 3)
    return cases
  }

  /// Compares as JSON: `nil` is null.
  private func expect(
    _ result: Any, _ expected: Any?, _ test: Object, _ sourceLocation: SourceLocation = #_sourceLocation
  )
    throws
  {
    let name = test["name"] as? String ?? test["link"] as? String ?? ""
    let pair = [try Self.text(result), try Self.text(expected ?? NSNull())]
    #expect(pair[0] == pair[1], "\(name)", sourceLocation: sourceLocation)
  }

  private static func text(_ value: Any) throws -> String {
    String(
      decoding: try JSONSerialization.data(
        withJSONObject: value, options: [.sortedKeys, .fragmentsAllowed, .withoutEscapingSlashes]), as: UTF8.self)
  }

  private func steps(_ test: Object) throws -> [Object] { try #require(test["steps"] as? [Object]) }

  private static func mark(_ fields: Object) -> ReadMark {
    ReadMark(
      conversationId: fields["conversationId"] as? String ?? "", messageId: fields["messageId"] as? String,
      time: (fields["time"] as? Double).map { Date(timeIntervalSince1970: $0) })
  }

  private static func push(_ data: Any?) throws(PushPayloadError) -> PushPayload {
    try PushPayload(data: data as? [String: String] ?? [:])
  }

  private static func options(_ options: PresentationOptions) -> [String] {
    [("banner", PresentationOptions.banner), ("list", .list), ("sound", .sound), ("badge", .badge)]
      .filter { options.contains($0.1) }.map(\.0)
  }

  // MARK: Presentation

  @Test("C1: pushes and in-app banners")
  func presentation() throws {
    for test in try cases("presentation") {
      let state = try #require(test["state"] as? Object)
      var presenter = NotificationPresenter(
        userId: state["userId"] as? String, isForeground: state["isForeground"] as? Bool ?? false,
        openConversationId: state["openConversationId"] as? String,
        hasLiveChannel: state["hasLiveChannel"] as? Bool ?? false)
      for step in try steps(test) {
        if step["push"] != nil {
          try expect(Self.receive(step["push"], &presenter), step["expect"], test)
        } else if let fields = step["banner"] as? Object {
          try expect(["admit": presenter.admits(Self.banner(fields))], step["expect"], test)
        } else if let fields = step["read"] as? Object {
          presenter.conversationRead(Self.mark(fields))
        } else if let userId = step["user"] {
          presenter.userChanged(to: userId as? String)
        } else if let isForeground = step["foreground"] as? Bool {
          presenter.isForeground = isForeground
        } else if let isLive = step["live"] as? Bool {
          presenter.hasLiveChannel = isLive
        } else {
          presenter.openConversationId = try #require(step["open"]) as? String
        }
      }
    }
  }

  private static func receive(_ data: Any?, _ presenter: inout NotificationPresenter) -> Object {
    let push: PushPayload
    do throws(PushPayloadError) {
      push = try Self.push(data)
    } catch {
      return ["error": error.key]
    }
    func number(_ badge: Int?) -> Any { badge ?? NSNull() }
    switch presenter.receive(push) {
    case .present(let options, let badge): return ["present": Self.options(options), "badge": number(badge)]
    case .setBadge(let badge): return ["setBadge": badge]
    case .removeNotifications(let mark, let badge):
      let time = mark.time.map { Int($0.timeIntervalSince1970) }
      return [
        "removeUpTo": [
          "conversationId": mark.conversationId, "messageId": mark.messageId ?? NSNull(), "time": number(time),
        ] as Object, "badge": badge,
      ]
    case .removeNotification(let conversationId, let messageId, let badge):
      return ["remove": ["conversationId": conversationId, "messageId": messageId], "badge": badge]
    case .presentCatchUp(let catchUp, let options, let badge):
      return [
        "presentCatchUp": catchUp.lines.map(\.messageId), "options": Self.options(options), "badge": number(badge),
      ]
    case .removeCatchUp(let pushId, let badge): return ["removeCatchUp": pushId, "badge": badge]
    case .synchronize: return ["synchronize": true]
    case .drop(let reason): return ["drop": reason.name]
    }
  }

  private static func banner(_ fields: Object) -> InAppBanner {
    InAppBanner(
      userId: fields["userId"] as? String ?? "ada", conversationId: fields["conversationId"] as? String ?? "",
      messageId: fields["messageId"] as? String ?? "", senderId: fields["senderId"] as? String ?? "ben",
      senderName: fields["senderName"] as? String ?? "Ben", preview: fields["preview"] as? String ?? "",
      occurredAt: (fields["occurredAt"] as? NSNumber)?.int64Value ?? 0)
  }

  // MARK: Badge, banners, links

  @Test("C9: the badge")
  func badge() throws {
    for test in try cases("badge") {
      var badge = BadgeCounter(mode: try #require(BadgeCounter.Mode(rawValue: test["mode"] as? String ?? "")))
      for step in try steps(test) {
        let number: Int
        if step["push"] != nil {
          number = badge.received(try Self.push(step["push"]))
        } else if let shown = step["launched"] as? Int {
          let delivered = try #require(step["delivered"] as? [Any])
          number = badge.launched(showing: shown, delivered: try delivered.map { try Self.push($0) })
        } else if let conversationId = step["opened"] as? String {
          number = badge.opened(conversationId)
        } else if let fields = step["read"] as? Object {
          number = badge.read(Self.mark(fields))
        } else if step["closed"] != nil {
          badge.closed()
          number = badge.value
        } else {
          #expect(step["signedOut"] as? Bool == true)
          number = badge.signedOut()
        }
        try expect(number, step["expect"], test)
      }
    }
  }

  @Test("C4: the queue of in-app banners")
  func banners() throws {
    for test in try cases("banners") {
      var queue = BannerQueue()
      for step in try steps(test) {
        let now = try #require(step["at"] as? Double)
        let actions: [BannerQueue.Action]
        if let fields = step["banner"] as? Object {
          actions = queue.receive(.message(Self.banner(fields)), at: now)
        } else if step["time"] != nil {
          actions = queue.timeReached(at: now)
        } else if step["touch"] != nil {
          actions = queue.touchBegan(at: now)
        } else if let points = step["lift"] as? Double {
          actions = queue.touchEnded(movedUp: points, at: now)
        } else if step["tap"] != nil {
          actions = queue.tapped(at: now)
        } else if step["dismiss"] != nil {
          actions = queue.dismissed(at: now)
        } else if let conversationId = step["open"] as? String {
          actions = queue.conversationOpened(conversationId, at: now)
        } else {
          #expect(step["background"] as? Bool == true)
          actions = queue.enteredBackground()
        }
        try expect(try actions.map { try Self.object($0) }, step["expect"], test)
      }
    }
  }

  private static func object(_ action: BannerQueue.Action) throws -> Object {
    switch action {
    case .show(.message(let banner)): ["show": banner.messageId]
    case .hide(.message(let banner)): ["hide": banner.messageId]
    case .notify(let banner): ["notify": banner.messageId]
    case .wake(let time): ["wake": Int(time)]
    case .cancelWake: ["cancelWake": true]
    case .route(let route): ["open": Self.object(route)]
    case .show(.notice), .hide(.notice): [:]
    }
  }

  private static func object(_ route: Route) -> Object {
    ["conversationId": route.conversationId, "messageId": route.messageId ?? NSNull()]
  }

  @Test("C3: deep links")
  func links() throws {
    for test in try cases("links") {
      let link = try #require(test["link"] as? String)
      let scheme = test["scheme"] as? String ?? DeepLink.defaultScheme
      var result: Object = [:]
      do throws(DeepLink.Failure) {
        let read = try DeepLink(link, scheme: scheme)
        result["conversationId"] = read.conversationId
        if test["text"] != nil { result["text"] = read.text(scheme: scheme) }
      } catch {
        result["error"] = error.name
      }
      try expect(result, test.filter { !["link", "scheme"].contains($0.key) }, test)
    }
  }

  // MARK: Actions, sign-out

  @Test("C2: responses to a notification")
  func actions() throws {
    for test in try cases("actions") {
      let actions = NotificationActions(userId: test["userId"] as? String, deviceId: "d1", makeId: countingIds())
      let response: NotificationResponse? =
        switch test["response"] as? String {
        case "reply": .reply(test["text"] as? String ?? "")
        case "mark_read": .markRead
        case "helpful": .helpful
        case "not_helpful": .notHelpful
        case "open": .open
        case "dismiss": .dismiss
        default: nil
        }
      let plan = actions.plan(
        for: try #require(response), to: try Self.push(test["push"]), at: Date(timeIntervalSince1970: 1_763_712_060))
      try expect(try Self.object(plan), test["expect"], test)
    }
  }

  private static func object(_ plan: NotificationActions.Plan) throws -> Object {
    switch plan {
    case .publish(let event): return ["event": try fields(of: event)]
    case .open(let route, let event): return ["open": object(route), "event": try fields(of: event)]
    case .openCatchUp(let catchUp): return ["openCatchUp": catchUp.lines.map(\.messageId)]
    case .none: return ["none": true]
    case .refuse(let refusal): return ["refuse": refusal.name]
    }
  }

  /// The event without its version and the ids that the app chooses.
  private static func fields(of event: ClientEvent) throws -> Object {
    var fields = try #require(JSONSerialization.jsonObject(with: JSONEncoder().encode(event)) as? Object)
    #expect(fields.removeValue(forKey: "schemaVersion") as? Int == 1)
    #expect((fields.removeValue(forKey: "eventId") as? String)?.isEmpty == false)
    if event.body.type == "message.created" { fields["messageId"] = nil }
    return fields
  }

  @Test("C6: sign-out")
  func signOut() throws {
    for test in try cases("sign-out") {
      var signOut = SignOut(deviceId: "d1", makeId: countingIds())
      for step in try steps(test) {
        let now = Date(timeIntervalSince1970: try #require(step["at"] as? Double))
        let actions: [SignOut.Action]
        if let userId = step["begin"] as? String {
          actions = signOut.begin(userId: userId, at: now)
        } else if let eventId = step["finished"] as? String {
          actions = signOut.finished(eventId: eventId, succeeded: try #require(step["succeeded"] as? Bool))
        } else if let succeeded = step["tokenDeleted"] as? Bool {
          actions = signOut.tokenDeleted(succeeded: succeeded)
        } else if step["time"] != nil {
          actions = signOut.timeReached(at: now)
        } else if step["retry"] != nil {
          actions = signOut.retry(at: now)
        } else {
          #expect(step["signedIn"] as? Bool == true)
          actions = signOut.signedIn()
        }
        // Swift names the five steps of `clear` one by one, with the deletion of the token among them.
        let isCleared = actions.contains(.clearBadge)
        var result = actions.compactMap { Self.object($0) }
        if isCleared {
          let place = result.firstIndex { $0["deleteToken"] != nil } ?? result.endIndex
          result.insert(["clear": true], at: place)
        }
        try expect(result, step["expect"], test)
      }
    }
  }

  private static func object(_ action: SignOut.Action) -> Object? {
    switch action {
    case .publish(let event): ["publish": event.eventId]
    case .wake(let time): ["wake": Int(time.timeIntervalSince1970)]
    case .cancelWake: ["cancelWake": true]
    case .deleteToken: ["deleteToken": true]
    case .keep(let kept):
      ["keep": ["events": kept.events.map(\.eventId), "deletesToken": kept.deletesToken] as Object]
    case .removeKept: ["removeKept": true]
    case .log, .closeConversation, .forgetUser, .clearBanners, .dropPendingLink, .clearBadge: nil
    }
  }

  // MARK: Words

  @Test("C2: words.json has the words of the module, for apps in other languages")
  func words() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let text = try encoder.encode(Words.all) + Data("\n".utf8)
    let file = Repository.file("Schemas/app/words.json")
    if ProcessInfo.processInfo.environment["NUDGE_WRITE_DOCS"] != nil { try text.write(to: file) }
    #expect(
      try Data(contentsOf: file) == text, "write it anew with: NUDGE_WRITE_DOCS=1 Tests/Tiers/run --filter VectorTests")
  }
}

extension PushPayloadError {
  /// The key that is wrong; of several the first.
  fileprivate var key: String {
    switch self {
    case .missing(let key), .notAString(let key), .invalid(let key, _):
      key.prefix { $0 != "," }.description
    }
  }
}

extension NotificationPresenter.DropReason {
  fileprivate var name: String {
    switch self {
    case .otherRecipient: "other_recipient"
    case .openConversation: "open_conversation"
    case .alreadyShown: "already_shown"
    case .takenBack: "taken_back"
    case .alreadyRead: "already_read"
    }
  }
}

extension DeepLink.Failure {
  fileprivate var name: String {
    switch self {
    case .otherScheme: "other_scheme"
    case .unknownDestination: "unknown_destination"
    case .invalidConversationId: "invalid_id"
    }
  }
}

extension NotificationActions.Refusal {
  fileprivate var name: String {
    switch self {
    case .notSignedIn: "not_signed_in"
    case .otherAccount: "other_account"
    case .emptyReply: "empty_reply"
    case .noMessage: "no_message"
    }
  }
}
