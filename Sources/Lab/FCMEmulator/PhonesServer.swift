internal import Dispatch
internal import Foundation
internal import HTTPServer
internal import WebPages

/// Serves the page with the phones and its data.
///
/// - `GET /` and its files: the page;
/// - `GET /phones?after=VERSION`: the phones that changed after that version, once there are any, at latest after 20 s;
/// - `GET /decisions/{pushId}`: the decision that made a push;
/// - `GET /deliveries?after=NUMBER&tokens=PREFIX`: a ``DeliveryLog/Batch`` of the messages after that number for tokens with
///   this prefix, once there are any, at latest after 20 s; without `after` the latest number, at once;
/// - `POST /apps` with `{"phone": NUMBER}`: what the app of that phone signs in with, for the page alone;
/// - the endpoints of ``EmulatorControl``, for tools without HTTP/2.
struct PhonesServer: Sendable {
  /// The longest wait of a request in seconds. It is shorter than the time-outs of proxies and browsers.
  private static let patience = 20

  private let server: HTTPServer
  let url: String

  init(
    address: FCMEmulatorAddress, board: PhoneBoard, deliveries: DeliveryLog, decisions: DecisionFile?,
    apps: PhoneApps?, control: EmulatorControl
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
          HTTPRoute(.get, "/") { _ in Self.page("index.html", apps) },
          Self.appsRoute(board, apps),
          HTTPRoute(.get, "/phones") { (request, responder) in Self.changes(request, board, responder) },
          HTTPRoute(.get, "/deliveries") { (request, responder) in Self.deliveries(request, deliveries, responder) },
          HTTPRoute(.get, "/decisions/{pushId}") { Self.decision($0, decisions) },
        ] + controls + [HTTPRoute(.get, "/{page}") { Self.page($0.parameters["page"] ?? "", apps) }])
      try server.start()
    } catch {
      throw FCMEmulatorError("the page with the phones cannot be served at \(address.host):\(address.port): \(error)")
    }
    url = "http://\(server.boundAddress)/"
  }

  func stop() { server.stop() }

  /// The page shows texts of messages, which must not load or run anything. It may connect only to the emulator and to the HTTP API that
  /// its apps use.
  private static func page(_ name: String, _ apps: PhoneApps?) -> HTTPServerResponse {
    var answer = WebPages.phones.answer(name)
    answer.headers += WebPages.headers(
      connect: apps?.origin.map { [$0] } ?? [],
      // A demo's console is on this machine, at another port.
      embeddedBy: ["http://127.0.0.1:*", "http://localhost:*"])
    return answer
  }

  private static let names = OwnNames(of: "the page with the phones")

  private struct AppQuestion: Decodable { let phone: Int }

  /// Gives the token of a phone's owner to the page, but not to a page of another site.
  private static func appsRoute(_ board: PhoneBoard, _ apps: PhoneApps?) -> HTTPRoute {
    HTTPRoute(
      .post, "/apps", bodyLimit: 1_024, contentTypes: ["application/json"],
      admit: { head in
        let refusal =
          names.refusal(host: head.headers["Host"]) ?? OwnNames.refusal(notFromOwnPage: { head.headers[$0] })
        return refusal.map { HTTPAdmission.refused($0) } ?? .admitted(nil)
      },
      answeringLater: { request, responder in
        var answer = app(request, board, apps)
        answer.headers.append(("Cache-Control", "no-store"))
        responder.respond(answer)
      })
  }

  private static func app(_ request: HTTPServerRequest, _ board: PhoneBoard, _ apps: PhoneApps?) -> HTTPServerResponse {
    guard let apps else {
      return .error(
        404, code: "no_apps",
        message: "apps cannot be opened here: they need the HTTP API (nudge demo --http, or fcm-emulator --apps)")
    }
    guard let question = try? JSONDecoder().decode(AppQuestion.self, from: Data(request.body)) else {
      return .error(400, code: "invalid", message: "the body must be {\"phone\": NUMBER}")
    }
    guard let (phone, address) = board.phone(question.phone) else {
      return .error(404, code: "unknown_phone", message: "no phone has this number")
    }
    return apps.session(of: phone.owner, on: phone.platform, address: address)
  }

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
