@testable import FCMEmulator
import Foundation
import HTTPTransport
import NudgeSchema
import ServiceKit
import Synchronization
import TestSupport
import Testing

@testable import Dispatcher

@Suite("The webhook: signed requests to a named host")
struct WebhookTests {
  /// The example of the Standard Webhooks specification.
  private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

  private func secrets(_ text: String) throws -> WebhookSecrets {
    try WebhookSecrets(contents: Array(text.utf8), name: "secrets")
  }

  private func request(_ id: UInt64 = 1, body: String = #"{"test": 2432232314}"#, leaveBy: Milliseconds? = nil)
    -> SendRequest
  {
    SendRequest(
      id: id, destination: .webhook,
      subject: .init(
        userId: "ann", deviceId: "webhook", pushId: "msg_p5jXN8AQM9LWM0D4loKWxJek", attempt: 1),
      token: "", body: Array(body.utf8), leaveBy: leaveBy)
  }

  @Test("the signature is that of the Standard Webhooks specification's example")
  func signature() throws {
    #expect(
      try secrets(Self.secret).signature(
        id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: "1614265330", body: Array(#"{"test": 2432232314}"#.utf8))
        == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  @Test("id, time and signature are headers; each secret signs, so that a receiver can change from one to the other")
  func headers() throws {
    let http = StandInHTTP()
    http.answer = HTTPResponse(status: 200, body: [])
    let clock = HandClock()
    clock.wall.withLock { $0 = 1_614_265_330_999 }
    let other = "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()
    let client = WebhookClient(
      url: "https://pager.example.com/nudge", secrets: try secrets("# new\n\(other)\n\n\(Self.secret)\n"), http: http,
      log: Logger(label: "test", sink: LogCapture().sink), clocks: clock.clocks)
    let replies = Mutex<[SendReply]>([])
    client.perform(request()) { reply in replies.withLock { $0.append(reply) } }
    let sent = try #require(http.requests.first)
    let headers = Dictionary(uniqueKeysWithValues: sent.headers.map { ($0.0, $0.1) })
    #expect(sent.url == "https://pager.example.com/nudge" && sent.method == .post)
    #expect(headers["webhook-id"] == "msg_p5jXN8AQM9LWM0D4loKWxJek" && headers["webhook-timestamp"] == "1614265330")
    let signatures = (headers["webhook-signature"] ?? "").split(separator: " ")
    #expect(signatures.count == 2 && signatures.last == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    #expect(replies.withLock { $0.map(\.answer.isSent) } == [true])

    client.replace(try secrets(Self.secret))
    client.perform(request(2)) { _ in }
    #expect(http.requests.last?.headers.contains { $0.1 == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" } == true)
    // Too late to leave.
    client.perform(request(3, leaveBy: -1)) { _ in }
    #expect(http.requests.last?.mayStart?() == false)
  }

  @Test(
    "a file of secrets names the line that is wrong, and never what is in it",
    arguments: [
      "", "# only a remark\n", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_short", "whsec_c2hvcnQ=",
      secret + "\nwhsec_***", (0..<5).map { _ in secret }.joined(separator: "\n"),
    ])
  func wrongSecrets(_ text: String) {
    let error = #expect(throws: SettingsError.self) { try secrets(text) }
    let said = "\(error.map { "\($0)" } ?? "")"
    #expect(said.contains("--escalation-secret-file secrets") && !said.contains("MfKQ") && !said.contains("c2hv"))
  }

  @Test(
    "only https and host names are taken",
    arguments: [
      "http://pager.example.com", "ftp://pager.example.com", "pager.example.com", "https://", "https:///path",
      "https://user:secret@pager.example.com/", "https://pager.example.com/#part", "https://10.0.0.1/",
      "https://8.8.8.8/", "https://127.1/", "https://2130706433/", "https://0x7f000001/", "https://0x7f.1/",
      "https://pager.0x7f/", "https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://localhost/",
      "https://LOCALHOST:8443/", "https://pager.localhost/", "https://pager/", "https://pager..com/",
      "https://pager.example.com./", "https://-pager.example.com/", "https://pager.example.com\\@127.0.0.1/",
      "https://pager.example.com/a b", "https://p\u{e4}ger.example.com/", "https://pager.example.com\n/",
    ])
  func refusedAddresses(_ url: String) {
    #expect(throws: SettingsError.self) { try WebhookAddress.check(url, allowsPrivate: false) }
  }

  @Test("names of this host and network are taken where the operator allows them; addresses never are")
  func allowedAddresses() throws {
    for url in ["https://pager.example.com", "https://a-b.example.com:8443/x/y?z=1", "https://3com.example.org/"] {
      try WebhookAddress.check(url, allowsPrivate: false)
    }
    for url in ["https://localhost:8443/webhook", "https://pager/x", "https://pager.default.svc/"] {
      try WebhookAddress.check(url, allowsPrivate: true)
    }
    #expect(throws: SettingsError.self) { try WebhookAddress.check("https://127.0.0.1/", allowsPrivate: true) }
    #expect(throws: SettingsError.self) { try WebhookAddress.check("http://localhost/", allowsPrivate: true) }
  }

  /// A receiver on this host, and a webhook for it.
  private final class Receiver: Sendable {
    let emulator: FCMEmulator
    let webhook: Webhook
    let secretFile: String
    private let log = LogCapture()

    /// All that was logged.
    var said: String { log.entries.map { "\($0)" }.joined(separator: "\n") }

    init(allowsPrivate: Bool, faults: [Fault] = []) throws {
      var configuration = FCMEmulatorConfiguration()
      configuration.keepRequests = 100
      configuration.faults = faults
      emulator = try FCMEmulator(configuration)
      emulator.start()
      secretFile = FileManager.default.temporaryDirectory.appendingPathComponent("webhook-\(UUID().uuidString)").path
      try Data(WebhookTests.secret.utf8).write(to: URL(fileURLWithPath: secretFile))
      webhook = try Webhook(
        url: emulator.url.replacingOccurrences(of: "127.0.0.1", with: "localhost") + "/webhook", secretFile: secretFile,
        certificateAuthorities: emulator.caFile, allowsPrivate: allowsPrivate,
        log: Logger(label: "webhook", sink: log.sink))
    }

    func send(_ request: SendRequest) async -> SendReply {
      await withCheckedContinuation { continuation in
        webhook.client.perform(request) { continuation.resume(returning: $0) }
      }
    }

    deinit {
      webhook.stop()
      emulator.stop()
      try? FileManager.default.removeItem(atPath: secretFile)
    }
  }

  @Test("over TLS: the receiver gets the body as it was signed; 503, a redirection and a reset stream are told apart")
  func received() async throws {
    let receiver = try Receiver(
      allowsPrivate: true,
      faults: [
        Fault(endpoint: .webhook, times: 1, action: .answer(EmulatorAnswer(status: 503, body: "later"))),
        Fault(
          endpoint: .webhook, times: 1,
          action: .answer(
            EmulatorAnswer(status: 302, headers: [("location", "https://169.254.169.254/")], body: ""))),
        Fault(endpoint: .webhook, times: 1, action: .resetStream),
        Fault(
          endpoint: .webhook, times: 1,
          action: .answer(EmulatorAnswer(status: 200, body: String(repeating: "x", count: 100_000)))),
      ])
    var verdicts: [String] = []
    for number in 0..<5 { verdicts.append(await receiver.send(request(UInt64(number))).answer.verdictName) }
    #expect(verdicts == ["server_failed", "project_refused", "unreachable", "sent", "sent"])
    let requests = receiver.emulator.requests().filter { $0.path == "/webhook" }
    #expect(requests.map(\.status) == [503, 302, 0, 200, 200], "no redirection is followed")
    for request in requests {
      let headers = Dictionary(request.headers.map { ($0.name, $0.value) }) { $1 }
      let expected = try secrets(Self.secret).signature(
        id: headers["webhook-id"] ?? "", timestamp: headers["webhook-timestamp"] ?? "", body: request.body)
      #expect(headers["webhook-signature"] == expected && headers["content-type"] == "application/json")
      #expect(request.body == Array(#"{"test": 2432232314}"#.utf8))
    }
    #expect(!receiver.said.contains("MfKQ") && !receiver.said.contains("2432232314"))
  }

  @Test("a name that leads to this host is refused at the connection, where the operator has not allowed it")
  func refusedAtTheConnection() async throws {
    let receiver = try Receiver(allowsPrivate: false)
    let reply = await receiver.send(request())
    #expect(reply.answer.verdictName == "project_refused" && reply.answer.errorCode == "address_refused")
    #expect(reply.requests == 0 && receiver.emulator.counters.connections == 0)
  }

  @Test("secrets that change are used; a file that cannot be used is reported once and changes nothing")
  func reload() async throws {
    let receiver = try Receiver(allowsPrivate: true)
    let file = URL(fileURLWithPath: receiver.secretFile)
    let next = "whsec_" + Data(repeating: 9, count: 24).base64EncodedString()
    func signatures() -> [String?] {
      receiver.emulator.requests().map { $0.headers.first { $0.name == "webhook-signature" }?.value }
    }
    func expected(_ secret: String) throws -> [String] {
      try receiver.emulator.requests().map { request in
        let headers = Dictionary(request.headers.map { ($0.name, $0.value) }) { $1 }
        return try secrets(secret).signature(
          id: headers["webhook-id"] ?? "", timestamp: headers["webhook-timestamp"] ?? "", body: request.body)
      }
    }
    try Data("no secret".utf8).write(to: file)
    for _ in 0..<4 { receiver.webhook.reload() }
    _ = await receiver.send(request())
    #expect(try signatures() == expected(Self.secret))
    #expect(receiver.said.components(separatedBy: "cannot be read again").count == 2)
    try Data(next.utf8).write(to: file)
    for _ in 0..<4 { receiver.webhook.reload() }
    _ = await receiver.send(request(2))
    #expect(try signatures().last == expected(next).last)
  }
}
