internal import Dispatch
internal import HTTPServer

/// Serves the page with the phones and its data.
///
/// - `GET /`: the page;
/// - `GET /phones?after=VERSION`: the phones that changed after that version, once there are any, at latest after 20 s;
/// - `GET /decisions/{pushId}`: the decision that made a push;
/// - `GET /deliveries?after=NUMBER&tokens=PREFIX`: a ``DeliveryLog/Batch`` of the messages after that number for tokens with
///   this prefix, once there are any, at latest after 20 s; without `after` the latest number, at once;
/// - the endpoints of ``EmulatorControl``, for tools without HTTP/2.
struct PhonesServer: Sendable {
  /// The longest wait of a request in seconds: shorter than the time-outs of proxies and browsers.
  private static let patience = 20

  private let server: HTTPServer
  let url: String

  init(
    address: FCMEmulatorAddress, board: PhoneBoard, deliveries: DeliveryLog, decisions: DecisionFile?,
    control: EmulatorControl
  ) throws(FCMEmulatorError) {
    let controls = EmulatorControl.Endpoint.allCases.map { endpoint in
      HTTPRoute(endpoint.isPost ? .post : .get, endpoint.rawValue) { request in
        let answer = request.body.withUnsafeBytes { control.answer(to: endpoint, body: $0) }
        return .json(bytes: Array(answer.body.utf8), status: answer.status)
      }
    }
    do {
      server = try HTTPServer(
        address: "\(address.host):\(address.port)",
        routes: [
          HTTPRoute(.get, "/") { _ in Self.page },
          HTTPRoute(.get, "/phones") { (request, responder) in Self.changes(request, board, responder) },
          HTTPRoute(.get, "/deliveries") { (request, responder) in Self.deliveries(request, deliveries, responder) },
          HTTPRoute(.get, "/decisions/{pushId}") { Self.decision($0, decisions) },
        ] + controls)
      try server.start()
    } catch {
      throw FCMEmulatorError("the page with the phones cannot be served at \(address.host):\(address.port): \(error)")
    }
    url = "http://\(server.boundAddress)/"
  }

  func stop() { server.stop() }

  private static let page = HTTPServerResponse(
    headers: [
      ("Content-Type", "text/html; charset=utf-8"),
      // The page shows texts of messages, which must not load or run anything.
      (
        "Content-Security-Policy",
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'"
      ),
      ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
    ], body: Array(phonesPage.utf8))

  private static func changes(_ request: HTTPServerRequest, _ board: PhoneBoard, _ responder: HTTPResponder) {
    guard let after = request.query["after"].map({ Int($0) }) ?? 0 else {
      responder.respond(.error(400, code: "invalid", message: "after must be a whole number"))
      return
    }
    let id = board.wait(after: after) { responder.respond(.json($0)) }
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(patience)) { board.giveUp(id) }
  }

  private static func deliveries(_ request: HTTPServerRequest, _ log: DeliveryLog, _ responder: HTTPResponder) {
    guard let text = request.query["after"] else {
      responder.respond(.json(bytes: DeliveryLog.Batch(next: log.last, missed: 0, deliveries: []).json))
      return
    }
    guard let after = Int(text) else {
      responder.respond(.error(400, code: "invalid", message: "after must be a whole number"))
      return
    }
    let id = log.wait(after: after, tokenPrefix: request.query["tokens"] ?? "") {
      responder.respond(.json(bytes: $0.json))
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(patience)) { log.giveUp(id) }
  }

  private static func decision(_ request: HTTPServerRequest, _ decisions: DecisionFile?) -> HTTPServerResponse {
    guard let decisions else {
      return .error(
        404, code: "no_decisions", message: "the emulator was started without --decisions; nudge explain tells the same"
      )
    }
    do {
      guard let bytes = try decisions.decision(ofPush: request.parameters["pushId"] ?? "") else {
        return .error(404, code: "unknown_push", message: "no decision for this push has come yet")
      }
      return .json(bytes: bytes)
    } catch {
      return .error(503, code: "unreadable", message: "\(decisions.path) cannot be read: \(error)")
    }
  }
}
