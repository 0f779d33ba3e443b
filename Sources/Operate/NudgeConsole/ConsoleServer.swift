import Dispatch
import Foundation
import HTTPServer
import WebPages

/// Where the console listens, and who may use it.
package struct ConsoleAddress: Sendable {
  /// This machine's address, or a name for it.
  package var host: String
  /// The port; 0 lets the system choose.
  package var port: Int
  /// Names of the console besides those of this machine.
  package var names: [String]
  /// The token that every request for data must contain. It is required even on this machine's own address, because other users of the
  /// machine and clients behind a proxy on it can reach that address.
  package var token: String

  /// - Parameter token: A given token; nil for a random one.
  package init(host: String, port: Int, names: [String] = [], token: String? = nil) {
    self.host = host
    self.port = port
    self.names = names
    self.token = token ?? ConsoleSecret.make()
  }
}

/// Serves the console: the page, and the answers to what it asks.
///
/// - `GET /` and its files: static, the same for everybody;
/// - `POST /api/session` with `{"token": TOKEN}`: a cookie that stands for the token;
/// - `GET /api/console`: ``ConsoleFacts``;
/// - `POST /api/jobs` with a ``ConsoleQuestion``: starts to answer it, and returns `{"job": ID}`;
/// - `GET /api/jobs/{id}?after=NUMBER`: the rows after that number as lines of JSON, once there are any, at latest after 10 s, and
///   a last line with `next`, `done`, `progress` and `error`;
/// - `DELETE /api/jobs/{id}`: takes the question back.
package final class ConsoleServer: Sendable {
  /// The longest wait of a request. It is shorter than the time-outs of proxies and browsers.
  private static let patience = 10

  private let server: HTTPServer
  private let jobs: ConsoleJobs
  private let token: String

  /// A console that is not listening yet. `log` receives messages for the operator.
  package init(
    _ address: ConsoleAddress, answers: any ConsoleAnswers, log: @escaping @Sendable (String) -> Void = { _ in }
  ) throws {
    let key = ConsoleSecret.make()
    let access = ConsoleAccess(
      token: address.token, session: ConsoleSecret.make(),
      names: OwnNames(of: "the console", address.names, fix: "start it with --host NAME"), key: key)
    let jobs = ConsoleJobs(answers: answers)
    let headers = Self.headers(phones: answers.facts.phones)
    self.jobs = jobs
    token = address.token

    func route(
      _ method: HTTPMethod, _ path: String, _ kind: ConsoleAccess.Kind, bodyLimit: Int? = nil,
      contentTypes: [String] = [],
      _ handler: @escaping @Sendable (HTTPServerRequest, @escaping @Sendable (HTTPServerResponse) -> Void) -> Void
    ) -> HTTPRoute {
      HTTPRoute(
        method, path, bodyLimit: bodyLimit, contentTypes: contentTypes,
        admit: { head in
          guard var refusal = access.refusal(of: kind, { head.headers[$0] }) else { return .admitted(nil) }
          refusal.headers += headers
          return .refused(refusal)
        },
        answeringLater: { request, responder in
          handler(request) { response in
            var response = response
            response.headers += headers
            responder.respond(response)
          }
        })
    }

    let host = address.host.contains(":") && !address.host.hasPrefix("[") ? "[\(address.host)]" : address.host
    server = try HTTPServer(
      address: "\(host):\(address.port)",
      routes: [
        route(.get, "/", .page) { _, answer in answer(WebPages.console.answer("index.html")) },
        route(.post, "/api/session", .session, bodyLimit: 4_096, contentTypes: ["application/json"]) {
          request, answer in
          answer(access.session(for: request))
        },
        route(.get, "/api/console", .read) { _, answer in
          var facts = answers.facts
          facts.key = key
          answer(.json(facts))
        },
        route(.post, "/api/jobs", .write, bodyLimit: 4 << 20, contentTypes: ["application/json"]) { request, answer in
          answer(Self.start(request, answers, jobs))
        },
        route(.get, "/api/jobs/{id}", .read) { request, answer in Self.read(request, jobs, answer) },
        route(.delete, "/api/jobs/{id}", .write) { request, answer in
          jobs.remove(request.parameters["id"] ?? "")
          answer(HTTPServerResponse(status: 204))
        },
        route(.get, "/{page}", .page) { request, answer in
          answer(WebPages.console.answer(request.parameters["page"] ?? ""))
        },
      ], log: log)
  }

  /// Starts to listen.
  package func start() throws { try server.start() }

  /// Ends, and cancels the questions that are being answered.
  package func stop() {
    jobs.cancelAll()
    server.stop()
  }

  /// The page's URL with the token after the `#`. Browsers do not send that part, so no proxy can log it.
  package var url: String {
    let bound = server.boundAddress
    // A browser cannot open the wildcard address.
    let host = ["0.0.0.0:", "[::]:"].first { bound.hasPrefix($0) }.map { _ in
      "\(ProcessInfo.processInfo.hostName):\(server.port)"
    }
    return "http://\(host ?? bound)/#token=\(token)"
  }

  package var port: Int { server.port }

  // MARK: Answers

  /// The page may embed only the demo's phones, and no page may embed it.
  private static func headers(phones: String?) -> [(name: String, value: String)] {
    WebPages.headers(frames: phones.flatMap { WebPages.origin(of: $0) }.map { [$0] } ?? [])
  }

  private static func start(
    _ request: HTTPServerRequest, _ answers: any ConsoleAnswers, _ jobs: ConsoleJobs
  ) -> HTTPServerResponse {
    guard let question = try? JSONDecoder().decode(ConsoleQuestion.self, from: Data(request.body)) else {
      return .error(400, code: "invalid", message: "the body is no question")
    }
    guard !answers.isAction(question) || answers.facts.allowsActions else {
      return .error(
        403, code: "read_only", message: "this console only reads: nudge console --allow-actions writes too")
    }
    guard let id = jobs.start(question) else {
      return .error(429, code: "busy", message: "the console is answering \(ConsoleJobs.most) questions: wait a moment")
    }
    return .json(["job": id])
  }

  private static func read(
    _ request: HTTPServerRequest, _ jobs: ConsoleJobs, _ answer: @escaping @Sendable (HTTPServerResponse) -> Void
  ) {
    guard let after = request.query["after"].map({ Int($0) }) ?? 0, after >= 0 else {
      return answer(.error(400, code: "invalid", message: "after must be a whole number"))
    }
    guard let job = jobs[request.parameters["id"] ?? ""] else {
      return answer(.error(404, code: "unknown_job", message: "the question was taken back: ask again"))
    }
    let id = job.read(after: after) { batch in
      var body: [UInt8] = []
      for row in batch.rows { body += row + [0x0A] }
      body += (try? Array(JSONEncoder().encode(batch.state))) ?? []
      answer(HTTPServerResponse(headers: [("Content-Type", "application/x-ndjson")], body: body + [0x0A]))
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(patience)) { job.giveUp(id) }
  }
}
