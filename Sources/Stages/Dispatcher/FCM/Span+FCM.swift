import ServiceKit

extension Span {
  /// A request to FCM with its answer; nil where the trace of its push is not recorded. The attributes hold only values from
  /// fixed sets, because FCM's own texts may repeat a token.
  init?(_ reply: SendReply, to request: SendRequest, from start: UInt64, until end: UInt64) {
    guard let parent = request.traceparent.flatMap({ TraceContext(traceparent: $0) }), parent.isSampled else {
      return nil
    }
    var random = SystemRandomNumberGenerator()
    var attributes: [(name: String, value: Value)] = [
      ("http.request.method", .string("POST")), ("nudge.stage", .string("dispatcher")),
      ("nudge.fcm.verdict", .string(reply.answer.verdictName)),
      ("nudge.fcm.attempt", .int(Int64(request.subject.attempt))),
      ("nudge.fcm.requests", .int(Int64(reply.requests))),
    ]
    if let status = reply.answer.httpStatus { attributes.append(("http.response.status_code", .int(Int64(status)))) }
    let isSent: Bool = if case .sent = reply.answer.verdict { true } else { false }
    self.init(
      parent.child(using: &random), parent: parent.span, name: "POST messages:send", kind: .client, start: start,
      end: end, attributes: attributes, failure: isSent ? nil : reply.answer.verdictName)
  }
}
