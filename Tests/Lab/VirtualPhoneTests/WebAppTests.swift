import Foundation
import HTTPServer
import Synchronization
import TestSupport
import Testing

/// The JavaScript of `Schemas/app/web` in a browser.
@Suite(
  "C1 to C6, C9: Schemas/app in JavaScript", .serialized, .timeLimit(.minutes(3)),
  .enabled(if: HeadlessBrowser.missing == nil, "\(HeadlessBrowser.missing ?? "")"))
struct WebAppTests {
  /// Serves the folder, and keeps what is published.
  private final class Site: Sendable {
    let server: HTTPServer
    let published: Published

    final class Published: Sendable {
      private let events = Mutex<[String]>([])
      private let status = Mutex(202)

      /// The types of the events so far, and which message they are about.
      var lines: [String] { events.withLock { $0 } }
      func take() -> [String] {
        events.withLock { events in
          defer { events = [] }
          return events
        }
      }
      func answer(_ status: Int) { self.status.withLock { $0 = status } }

      func receive(_ body: [UInt8]) -> Int {
        let status = status.withLock { $0 }
        guard status == 202, let json = try? JSONSerialization.jsonObject(with: Data(body)) else { return status }
        for case let event as [String: Any] in json as? [Any] ?? [json] {
          let about = (event["messageId"] ?? event["conversationId"]) as? String
          events.withLock {
            $0.append([event["type"] as? String ?? "", about].compactMap { $0 }.joined(separator: " "))
          }
        }
        return status
      }
    }

    init() throws {
      let published = Published()
      self.published = published
      let folder = Repository.file("Schemas/app")
      @Sendable func serve(_ path: String) -> HTTPServerResponse {
        guard var body = try? Data(contentsOf: folder.appendingPathComponent(path)) else {
          return HTTPServerResponse(status: 404)
        }
        if path.hasSuffix("-worker.js") { body = Data(Self.remoteControl.utf8) + body }
        let type = ["html": "text/html", "js": "text/javascript"][String(path.split(separator: ".").last ?? "")]
        return HTTPServerResponse(
          headers: [("Content-Type", "\(type ?? "application/json"); charset=utf-8")], body: Array(body))
      }
      server = try HTTPServer(
        address: "127.0.0.1:0",
        routes: [
          HTTPRoute(.get, "/web/{name}") { serve("web/\($0.parameters["name"] ?? "")") },
          HTTPRoute(.get, "/vectors/{name}") { serve($0.parameters["name"] ?? "") },
          HTTPRoute(.get, "/empty") { _ in HTTPServerResponse(headers: [("Content-Type", "text/html")]) },
          HTTPRoute(.post, "/v1/events") { HTTPServerResponse(status: published.receive($0.body)) },
        ])
      try server.start()
    }

    /// Stands before the worker's code, so that a test's page can tell it to hold notifications back, to go on, and to answer once it has
    /// done all that came before.
    private static let remoteControl = """
      {
        let go = Promise.resolve(), goOn;
        const show = ServiceWorkerRegistration.prototype.showNotification;
        ServiceWorkerRegistration.prototype.showNotification = function (...all) {
          if (goOn) self.clients.matchAll({ includeUncontrolled: true }).then((pages) => pages[0].postMessage("held"));
          return go.then(() => show.apply(this, all));
        };
        self.addEventListener("message", (event) => {
          if (event.data === "hold") go = new Promise((resolve) => { goOn = resolve; });
          if (event.data === "go on") goOn();
          if (event.data === "done?") event.waitUntil(NudgeStore.inOrder(() => event.source.postMessage("done")));
        });
      }

      """

    // A service worker and crypto.subtle need a secure context, which localhost is.
    var origin: String { "http://localhost:\(server.port)" }
  }

  @Test(
    "every vector", arguments: ["presentation", "badge", "banners", "links", "actions", "sign-out", "notification-ids"])
  func vectors(name: String) throws {
    let site = try Site()
    defer { site.server.stop() }
    let browser = try HeadlessBrowser(width: 400, height: 300)
    try browser.open("\(site.origin)/empty")
    try browser.wait(until: "location.pathname === '/empty' && document.readyState === 'complete'")
    for file in ["nudge.js", "vectors.js"] {
      _ = try browser.evaluate(
        """
        new Promise((resolve, reject) => {
          const script = document.createElement("script");
          script.src = "/web/\(file)"; script.onload = () => resolve(true); script.onerror = reject;
          document.head.append(script);
        })
        """)
    }
    let run = name == "notification-ids" ? "runNotificationIds(file)" : "runVectors('\(name)', file)"
    let result = try browser.evaluate(
      "fetch('/vectors/\(name).json').then((answer) => answer.json()).then((file) => \(run))")
    let counted = try #require(result as? [String: Any])
    #expect(counted["differences"] as? [String] == [])
    #expect((counted["count"] as? Int ?? 0) > 10)
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
  }

  private func push(_ change: [String: String] = [:]) throws -> String {
    let data = [
      "type": "new_message", "pushId": "p1", "recipientId": "ada", "conversationId": "c1", "messageId": "m1",
      "senderId": "ben", "priority": "high", "presentation": "alert", "badge": "3", "timestamp": "1763712000",
    ].merging(change) { $1 }
    let message: [String: Any] = ["data": data, "notification": ["title": "Ben", "body": "Lunch?"], "from": "1"]
    return String(decoding: try JSONSerialization.data(withJSONObject: message), as: UTF8.self)
  }

  /// Titles of what is shown, as a page that does nothing sees it.
  private func shown(_ browser: HeadlessBrowser, _ site: Site) throws -> [String] {
    if try browser.evaluate("location.pathname") as? String != "/empty" {
      try browser.open("\(site.origin)/empty")
      try browser.wait(until: "location.pathname === '/empty' && document.readyState === 'complete'")
    }
    let titles = try browser.evaluate(
      """
      navigator.serviceWorker.getRegistration("/web/").then((registration) => registration.getNotifications())
        .then((all) => all.map((notification) => notification.title + ": " + notification.body))
      """)
    return try #require(titles as? [String])
  }

  @Test(
    "signed in, a push is shown in the background and is a banner in the foreground, each is reported, and a read removes"
  )
  func serviceWorker() throws {
    let site = try Site()
    defer { site.server.stop() }
    let browser = try HeadlessBrowser(width: 400, height: 300)
    try browser.allowNotifications(of: site.origin)
    try signIn(browser, at: site)
    #expect(site.published.take() == ["device.registered", "user.activity"])

    // In the foreground an alert is a banner, which a click opens.
    try browser.deliverPush(try push(), of: site.origin)
    try browser.wait(until: "!document.getElementById('banner').hidden")
    #expect(try browser.evaluate("document.getElementById('go').textContent") as? String == "Ben: Lunch?")
    wait(for: "the receipt", atMost: 20) { site.published.lines == ["notification.received m1"] }
    _ = try browser.evaluate("document.getElementById('x').click()")
    try browser.wait(until: "document.getElementById('banner').hidden")
    _ = site.published.take()

    // Without a window it is a notification.
    try browser.open("about:blank")
    try browser.wait(until: "location.href === 'about:blank'")
    try browser.deliverPush(try push(["messageId": "m2", "pushId": "p2"]), of: site.origin)
    wait(for: "the receipt", atMost: 20) { site.published.lines == ["notification.received m2"] }
    // For somebody else nothing is.
    try browser.deliverPush(try push(["messageId": "m3", "pushId": "p3", "recipientId": "cy"]), of: site.origin)
    try browser.deliverPush(try push(["messageId": "m4", "pushId": "p4", "timestamp": "1763712009"]), of: site.origin)
    wait(for: "the receipt", atMost: 20) { site.published.lines.last == "notification.received m4" }
    #expect(try shown(browser, site) == ["Ben: Lunch?", "Ben: Lunch?"])
    #expect(site.published.take() == ["notification.received m2", "notification.received m4"])

    // A read elsewhere takes away what it reaches, and no more.
    try browser.deliverPush(
      try push(["type": "read", "messageId": "m2", "pushId": "p5", "badge": "1"]), of: site.origin)
    try wait(for: "the removal") { try notificationCount(browser) == 1 }
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
  }

  @Test("C4: a banner that waits when the page is hidden becomes a notification, and one that was shown does not")
  func hiddenWhileWaiting() throws {
    let site = try Site()
    defer { site.server.stop() }
    let browser = try HeadlessBrowser(width: 400, height: 300)
    try browser.allowNotifications(of: site.origin)
    try signIn(browser, at: site)
    // The first one stays for as long as a finger is on it.
    try browser.deliverPush(try push(), of: site.origin)
    try browser.wait(until: "page.banners.showing && page.banners.touchBegan(0)")
    try browser.deliverPush(
      try push(["messageId": "m2", "pushId": "p2", "conversationId": "c2"]), of: site.origin)
    try browser.wait(until: "page.banners.waiting.length === 1")
    _ = try browser.evaluate(
      """
      Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
      """)
    try waitForWorker(browser)
    #expect(try notificationCount(browser) == 1)
    #expect(
      try browser.evaluate("\(Self.notifications).then((all) => all[0].data.push.messageId + all[0].silent)") as? String
        == "m2true")
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
  }

  @Test(
    "a push that is being shown does not outlive the sign-out, and an open conversation takes its notifications away"
  )
  func openedAndSignedOut() throws {
    let site = try Site()
    defer { site.server.stop() }
    let browser = try HeadlessBrowser(width: 400, height: 300)
    try browser.allowNotifications(of: site.origin)
    try signIn(browser, at: site)
    for (message, conversation) in [("m1", "c1"), ("m2", "c2")] {
      let change = [
        "messageId": message, "pushId": "p-\(message)", "conversationId": conversation, "presentation": "silent",
      ]
      try browser.deliverPush(try push(change), of: site.origin)
      wait(for: "the receipt", atMost: 20) { site.published.lines.last == "notification.received \(message)" }
    }
    #expect(try notificationCount(browser) == 2)
    _ = try browser.evaluate("page.opened('c1').then(() => true)")
    try waitForWorker(browser)
    #expect(
      try browser.evaluate("\(Self.notifications).then((all) => all.map(({ data }) => data.push.messageId).join())")
        as? String == "m2")

    try ask(browser, "hold")
    try waitForWorker(browser)
    try browser.deliverPush(
      try push(["messageId": "m3", "pushId": "p3", "conversationId": "c3", "presentation": "silent"]), of: site.origin
    )
    try browser.wait(until: "globalThis.heard?.includes('held')")
    // The icon's number is the last that a sign-out clears.
    _ = try browser.evaluate(
      """
      navigator.setAppBadge = async () => { globalThis.isCleared = true; };
      page.signOutTapped().then(() => true)
      """)
    try browser.wait(until: "globalThis.isCleared")
    try ask(browser, "go on")
    try waitForWorker(browser)
    #expect(try notificationCount(browser) == 0)
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
  }

  /// Posts one of the words that `Site.remoteControl` knows to the worker.
  private func ask(_ browser: HeadlessBrowser, _ what: String) throws {
    _ = try browser.evaluate(
      """
      if (!globalThis.heard) {
        globalThis.heard = [];
        navigator.serviceWorker.addEventListener("message", ({ data }) => heard.push(data));
      }
      navigator.serviceWorker.getRegistration("/web/").then(({ active }) => active.postMessage("\(what)"))
      """)
  }

  /// Waits until the worker has done all that it was asked. A test cannot list notifications again and again instead: Chromium forgets one that
  /// is listed before it is displayed.
  private func waitForWorker(_ browser: HeadlessBrowser) throws {
    _ = try browser.evaluate("globalThis.heard = globalThis.heard?.filter((one) => one !== 'done'), 1")
    try ask(browser, "done?")
    try browser.wait(until: "heard.includes('done')")
  }

  /// Opens the app's page, and signs Ada in.
  private func signIn(_ browser: HeadlessBrowser, at site: Site) throws {
    try browser.open("\(site.origin)/web/index.html")
    try browser.wait(until: "typeof started !== 'undefined'")
    _ = try browser.evaluate("started.then(() => page.signedIn('ada', 'jwt')).then(() => true)")
  }

  /// How many notifications are listed.
  private func notificationCount(_ browser: HeadlessBrowser) throws -> Int? {
    try browser.evaluate("\(Self.notifications).then((all) => all.length)") as? Int
  }

  private static let notifications =
    "navigator.serviceWorker.getRegistration('/web/').then((registration) => registration.getNotifications())"

  /// The message for a subscription, before it is sealed.
  private func webPush(_ change: [String: String?] = [:]) throws -> String {
    var data: [String: String] = [
      "type": "new_message", "pushId": "p1", "recipientId": "ada", "conversationId": "c1", "messageId": "m1",
      "senderId": "ben", "priority": "high", "presentation": "alert", "badge": "3", "timestamp": "1763712000",
      "sentAt": "1763712000000", "title": "Ben", "body": "Lunch?", "tag": "tag-1",
    ]
    for (name, value) in change { data[name] = value }
    return String(decoding: try JSONSerialization.data(withJSONObject: data), as: UTF8.self)
  }

  @Test(
    "issue 57: the worker for Web Push alone shows a push once, replaces, reports, opens, and removes what was read or deleted"
  )
  func pushWorker() throws {
    let site = try Site()
    defer { site.server.stop() }
    let browser = try HeadlessBrowser(width: 400, height: 300)
    try browser.allowNotifications(of: site.origin)
    try browser.open("\(site.origin)/empty")
    try browser.wait(until: "location.pathname === '/empty' && document.readyState === 'complete'")
    _ = try browser.evaluate(
      """
      navigator.serviceWorker.register("/web/push-worker.js").then((registration) => new Promise((resolve, reject) => {
        const worker = registration.installing ?? registration.waiting ?? registration.active;
        const check = () => { if (worker.state === "activated") resolve(true); };
        worker.addEventListener("statechange", check); check();
      })).then(() => new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = "/web/store.js"; script.onload = () => resolve(true); script.onerror = reject;
        document.head.append(script);
      })).then(() => NudgeStore.change((state) => Object.assign(state, { userId: "ada", deviceId: "tab", jwt: "jwt" }))).then(() => true)
      """)
    /// `title|body|tag|silent|actions` of what the worker shows. For a push that shows nothing Chromium shows a notification of its own.
    func list() throws -> [String] {
      let all = try browser.evaluate(
        """
        navigator.serviceWorker.getRegistration("/web/").then((registration) => registration.getNotifications())
          .then((all) => all.filter((n) => n.tag !== "user_visible_auto_notification").map((n) => [n.title, n.body, n.tag, n.silent, n.actions?.length].join("|")).sort())
        """)
      return try #require(all as? [String])
    }
    func deliver(_ change: [String: String?] = [:]) throws {
      try browser.deliverPush(try webPush(change), of: site.origin)
    }

    try deliver()
    wait(for: "the receipt", atMost: 20) { site.published.lines == ["notification.received m1"] }
    #expect(try list() == ["Ben|Lunch?|tag-1|false|1"])
    // The same push again, and one for somebody else: nothing.
    try deliver()
    try deliver(["recipientId": "cy", "pushId": "p9", "tag": "tag-9"])
    try deliver([
      "pushId": "p2", "messageId": "m2", "tag": "tag-2", "presentation": "silent", "sentAt": "1763712000005",
    ])
    wait(for: "the receipt", atMost: 20) { site.published.lines.last == "notification.received m2" }
    #expect(try list() == ["Ben|Lunch?|tag-1|false|1", "Ben|Lunch?|tag-2|true|1"])
    #expect(site.published.take() == ["notification.received m1", "notification.received m2"])
    // The page shows a banner by live.js once, and none for a message that was a notification.
    let isNew = try browser.evaluate("Promise.all(['p8', 'p2'].map((id) => NudgeStore.isNew('ada', id)))") as? [Bool]
    #expect(isNew == [true, false])
    try deliver(["pushId": "p8", "messageId": "m8", "tag": "tag-8"])
    // An edit takes the place of its message; another conversation's stays through a read here.
    try deliver(["pushId": "p3", "body": "Dinner?", "replaces": "true"])
    try deliver(["pushId": "p4", "conversationId": "c2", "messageId": "m4", "tag": "tag-4", "title": "Cy"])
    // The worker handles both at once.
    wait(for: "the receipts", atMost: 20) {
      Set(site.published.lines) == ["notification.received m1", "notification.received m4"]
    }
    #expect(try list().contains("Ben|Dinner?|tag-1|false|1"))
    _ = site.published.take()
    try deliver([
      "type": "read", "pushId": "p5", "messageId": "m1", "title": nil, "tag": "read",
    ])
    wait(for: "what is shown", atMost: 20) { (try? list()) == ["Ben|Lunch?|tag-2|true|1", "Cy|Lunch?|tag-4|false|1"] }
    try deliver(["type": "deleted", "pushId": "p6", "messageId": "m2", "title": nil, "tag": "tag-2"])
    wait(for: "what is shown", atMost: 20) { (try? list()) == ["Cy|Lunch?|tag-4|false|1"] }
    // The badge alone shows nothing.
    try deliver(["type": "badge", "pushId": "p7", "presentation": "badge"])
    try deliver([
      "type": "digest", "pushId": "d1", "tag": "d1", "messages": "4", "conversations": "2", "lines": "[]",
      "title": "4 messages", "messageId": nil, "conversationId": nil,
    ])
    // Chromium forgets a notification if a page lists notifications before it is displayed. So a message's receipt says when to look.
    try deliver(["pushId": "p10", "messageId": "m10", "tag": "tag-10", "presentation": "silent"])
    wait(for: "the receipt", atMost: 20) { site.published.lines == ["notification.received m10"] }
    #expect(try list() == ["4 messages|Lunch?|d1|false|0", "Ben|Lunch?|tag-10|true|1", "Cy|Lunch?|tag-4|false|1"])

    // A push that is being shown does not outlive the sign-out.
    try ask(browser, "hold")
    try waitForWorker(browser)
    try deliver(["pushId": "p11", "messageId": "m11", "tag": "tag-11"])
    try browser.wait(until: "heard.includes('held')")
    _ = try browser.evaluate(
      """
      NudgeStore.change((state) => { state.userId = null; })
        .then(() => navigator.serviceWorker.getRegistration("/web/")).then((registration) => registration.getNotifications())
        .then((all) => NudgeStore.close(...all)).then(() => true)
      """)
    try ask(browser, "go on")
    try waitForWorker(browser)
    #expect(try list() == [])
    #expect(site.published.lines == ["notification.received m10"])
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
  }

  @Test("C6: a sign-out that the services do not accept is repeated when the page starts again")
  func signOut() throws {
    let site = try Site()
    defer { site.server.stop() }
    let browser = try HeadlessBrowser(width: 400, height: 300)
    try signIn(browser, at: site)
    _ = site.published.take()
    site.published.answer(503)
    _ = try browser.evaluate("page.signOutTapped().then(() => true)")
    try browser.wait(until: "page.userId === null")
    site.published.answer(202)
    try browser.open("\(site.origin)/web/index.html?again")
    try browser.wait(until: "location.search === '?again'")
    wait(for: "the sign-out", atMost: 20) { site.published.lines.contains("device.unregistered") }
    try browser.wait(until: "page.signOut.kept.events.length === 0")
    #expect(browser.complaints.filter { !$0.contains("503") }.isEmpty, "\(browser.complaints)")
  }
}
