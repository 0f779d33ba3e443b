import Foundation
import HTTPServer
import NudgeSchema
import Synchronization
import TestSupport
import Testing

@testable import NudgeCommands
@testable import NudgeConsole

@Suite("The console's page Live")
struct LiveAnswersTests {
  /// An API that serves streams, and remembers who asked.
  private final class API: Sendable {
    struct State {
      var heads: [(user: String?, last: String?, authorization: String?)] = []
      var stream: HTTPStream?
      var refusal: Int?
    }
    let state = Mutex(State())
    var count: Int { state.withLock { $0.heads.count } }

    func open(_ request: HTTPServerRequest) -> HTTPServerResponse {
      let stream = HTTPStream(limit: 1 << 20)
      return state.withLock { state in
        state.heads.append(
          (request.query["userId"], request.headers["Last-Event-ID"], request.headers["Authorization"]))
        if let refusal = state.refusal { return .error(refusal, code: "refused", message: "no") }
        state.stream = stream
        return HTTPServerResponse(headers: [("Content-Type", "text/event-stream")], stream: stream)
      }
    }

    func send(_ number: Int) {
      let data =
        #"{"type":"decision","userId":"ann","messageId":"m\#(number)","outcome":"notify","reason":"relevant","text":"why \#(number)","decidedAt":\#(number),"body":"a secret"}"#
      let bytes = Array("event: decision\nid: 0-\(number)\ndata: \(data)\n\n".utf8)
      state.withLock { _ = $0.stream?.write(bytes) }
    }
  }

  private struct Row: Decodable {
    struct Decision: Decodable {
      struct Record: Decodable { var messageId: String }
      var record: Record
      var timestamp: Int64
    }
    struct Words: Decodable { var outcome: String }
    var decision: Decision
    var words: Words
  }

  private func serve(_ api: API) throws -> HTTPServer {
    let server = try HTTPServer(
      address: "127.0.0.1:0", routes: [HTTPRoute(.get, "/v1/live", answeringLater: { $1.respond(api.open($0)) })])
    try server.start()
    return server
  }

  private func answers(_ server: HTTPServer) -> CommandAnswers {
    var options = RunningConsole.Options()
    options.stream = ConsoleStream(url: "http://127.0.0.1:\(server.port)", apiKey: "a-key")
    return CommandAnswers(cluster: ClusterSettings(bootstrapServers: "127.0.0.1:1"), options: options)
  }

  /// A page that is open: its question is answered on a thread of its own.
  private final class Page: Sendable {
    let job = ConsoleJob()
    /// By their numbers: a batch may come twice.
    private let rows = Mutex<[Int: Row]>([:])
    private let progress = Mutex("")
    private let failure = Mutex<String?>(nil)
    private let ended = DispatchSemaphore(value: 0)

    init(_ answers: CommandAnswers, user: String) {
      Thread.detachNewThread { [self] in
        do {
          try answers.answer(ConsoleQuestion("live", with: ["user": user]), to: job)
        } catch {
          failure.withLock { $0 = "\(error)" }
        }
        ended.signal()
      }
    }

    /// Reads what has come; returns what the page says.
    func read() -> String {
      let id = job.read(after: rows.withLock { $0.count }) { [self] batch in
        progress.withLock { $0 = batch.state.progress ?? "" }
        for (row, number) in zip(batch.rows, (batch.state.next - batch.rows.count)...) {
          let decoded = try? JSONDecoder().decode(Row.self, from: Data(row))
          rows.withLock { $0[number] = decoded }
          if String(decoding: row, as: UTF8.self).contains("a secret") { failure.withLock { $0 = "a text was shown" } }
        }
      }
      job.giveUp(id)
      return progress.withLock { $0 }
    }

    /// The decisions so far.
    var shown: [Row.Decision] {
      _ = read()
      return rows.withLock { rows in rows.keys.sorted().compactMap { rows[$0]?.decision } }
    }

    /// It goes; returns why its question failed.
    func leave() -> String? {
      job.cancel()
      ended.wait()
      return failure.withLock { $0 }
    }
  }

  @Test("decisions come by the API's stream as they are made, and go on where they were; a page that goes ends it")
  func stream() throws {
    let api = API()
    let server = try serve(api)
    defer { server.stop() }
    let page = Page(answers(server), user: "ann/1")
    wait(for: "the stream") { api.count == 1 }
    let head = api.state.withLock { $0.heads[0] }
    #expect(head.user == "ann/1" && head.authorization == "Bearer a-key" && head.last == nil)
    api.send(1)
    api.send(2)
    wait(for: "two decisions") { page.shown.count == 2 }
    _ = api.state.withLock { $0.stream?.end() }
    wait(for: "another stream") { page.shown.count == 2 && api.count == 2 }
    #expect(api.state.withLock { $0.heads[1].last } == "0-2")
    api.send(3)
    wait(for: "the third") { page.shown.count == 3 }
    #expect(page.shown.map(\.record.messageId) == ["m1", "m2", "m3"])
    #expect(page.shown.map(\.timestamp) == [1, 2, 3])
    #expect(page.leave() == nil)
  }

  @Test("without an API they come from the topic, those of one person alone")
  func topic() throws {
    let world = try BrowsedBroker(partitions: 1)
    let page = Page(CommandAnswers(cluster: world.cluster, options: RunningConsole.Options()), user: "ann")
    wait(for: "the topic") { page.read() == "live, from nudge.decisions" }
    for (user, message) in [("bob", "m1"), ("ann", "m2"), ("anna", "m3"), ("ann", "m4")] {
      try world.produce(
        #"{"type":"decision","userId":"\#(user)","messageId":"\#(message)","outcome":"suppress","reason":"muted","body":"a secret"}"#,
        key: user, to: .decisions, at: 7)
    }
    try world.flush()
    wait(for: "two decisions") { page.shown.count == 2 }
    #expect(page.shown.map(\.record.messageId) == ["m2", "m4"] && page.shown.map(\.timestamp) == [7, 7])
    #expect(page.leave() == nil)
  }

  @Test("a key that is refused is said, and not tried for ever")
  func refused() throws {
    let api = API()
    api.state.withLock { $0.refusal = 401 }
    let server = try serve(api)
    defer { server.stop() }
    let error = #expect(throws: CommandError.self) {
      try answers(server).answer(ConsoleQuestion("live"), to: ConsoleJob())
    }
    #expect("\(error.map { "\($0)" } ?? "")".contains("401"))
    #expect(api.count == 1)
  }
}
