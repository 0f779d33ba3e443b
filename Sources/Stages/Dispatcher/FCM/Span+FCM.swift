import Foundation
import ServiceKit

extension Span {
  /// The service that a request is to.
  enum PushService {
    /// At a host and port.
    case fcm(ServerName)
    /// By the name of a host that is known, or a word for all others.
    case webPush(host: String)

    fileprivate var name: String {
      switch self {
      case .fcm: "POST messages:send"
      case .webPush: "POST web push"
      }
    }

    fileprivate var prefix: String {
      switch self {
      case .fcm: "nudge.fcm"
      case .webPush: "nudge.web_push"
      }
    }
  }

  /// A request with its answer; nil where the trace of its push is not recorded. The attributes hold only values from
  /// fixed sets, because the services' own texts may repeat a token.
  init?(
    _ reply: SendReply, to request: SendRequest, _ service: PushService, from start: UInt64, until end: UInt64
  ) {
    guard let parent = request.traceparent.flatMap({ TraceContext(traceparent: $0) }), parent.isSampled else {
      return nil
    }
    var random = SystemRandomNumberGenerator()
    var attributes: [(name: String, value: Value)] = [
      ("http.request.method", .string("POST")), ("nudge.stage", .string("dispatcher")),
      ("\(service.prefix).verdict", .string(reply.answer.verdictName)),
      ("\(service.prefix).attempt", .int(Int64(request.subject.attempt))),
      ("\(service.prefix).requests", .int(Int64(reply.requests))),
    ]
    if let status = reply.answer.httpStatus { attributes.append(("http.response.status_code", .int(Int64(status)))) }
    switch service {
    case .fcm(let server):
      attributes += [("server.address", .string(server.host)), ("server.port", .int(Int64(server.port)))]
    case .webPush(let host): attributes.append(("server.address", .string(host)))
    }
    let isSent: Bool = if case .sent = reply.answer.verdict { true } else { false }
    self.init(
      parent.child(using: &random), parent: parent.span, name: service.name, kind: .client, start: start,
      end: end, attributes: attributes, failure: isSent ? nil : reply.answer.verdictName)
  }
}

/// Host and port of FCM's URL, for spans. A login in the URL is no part of it.
struct ServerName: Equatable {
  let host: String
  let port: Int

  init(_ url: String) {
    let parts = URLComponents(string: url)
    host = parts?.host ?? ""
    port = parts?.port ?? (parts?.scheme == "http" ? 80 : 443)
  }
}
