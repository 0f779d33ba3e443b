import HTTPServer
import JSONCodec

/// The results of a request's events, and the answer with them.
struct BatchResult: Sendable {
  /// The result of one event.
  enum Status: Sendable, Equatable {
    /// Kafka has acknowledged it.
    case accepted
    /// It was not published. The code is one of the dead letters' codes, or `forbidden`.
    case rejected(code: String, message: String)
    /// Kafka has not acknowledged it, so it may or may not have been written.
    case unknown
  }

  /// The statuses by the events' index.
  var statuses: [Status]
  /// The events' ids, where they could be read.
  var eventIds: [String?]
  /// The fields that ingest ignores, by the events' index.
  var ignored: [Int: String] = [:]

  var accepted: Int { statuses.count { $0 == .accepted } }
  var unknown: Int { statuses.count { $0 == .unknown } }
  var rejected: Int { statuses.count - accepted - unknown }

  /// The answer, once each event has a status.
  /// - Parameters:
  ///   - forbidden: Whether none of the events belonged to the caller.
  ///   - fates: The results of published events, if the request waited for them.
  func answer(forbidden: Bool = false, fates: [Int: DecisionLog.Fate] = [:]) -> HTTPServerResponse {
    let accepted = accepted
    if unknown > 0 { return unavailable() }
    if accepted == statuses.count { return response(202, reason: "accepted", fates: fates) }
    if accepted > 0 { return response(207, reason: "partly_accepted", fates: fates) }
    if forbidden {
      return response(
        403, reason: "forbidden",
        message: "a user's token allows user events of that user and messages they sent, nothing else")
    }
    guard case .rejected(let code, let message)? = statuses.first else { return response(400, reason: "rejected") }
    return response(
      400, reason: "rejected", code: code, message: statuses.count == 1 ? message : "no event was accepted: see results"
    )
  }

  private func unavailable() -> HTTPServerResponse {
    var response = response(
      503, reason: "unavailable",
      message:
        "Kafka has not acknowledged \(unknown) of \(statuses.count) events: send them again, with the same event ids")
    response.headers.append(("Retry-After", String(Self.secondsToRecover)))
    return response
  }

  /// The value of `Retry-After` if Kafka did not answer.
  static let secondsToRecover = 2

  private func response(
    _ status: Int, reason: String, code: String? = nil, message: String? = nil,
    fates: [Int: DecisionLog.Fate] = [:]
  ) -> HTTPServerResponse {
    var json = JSONWriter(capacity: 64 + statuses.count * 64)
    json.beginObject()
    if let message {
      json.field("code", code ?? reason)
      json.field("message", message)
    }
    json.field("accepted", accepted)
    json.field("rejected", rejected)
    json.key("results")
    json.beginArray()
    for (index, status) in statuses.enumerated() { write(status, index, fates[index], to: &json) }
    json.endArray()
    json.endObject()
    var response = HTTPServerResponse.json(bytes: json.bytes, status: status)
    response.reason = reason
    return response
  }

  private func write(_ status: Status, _ index: Int, _ fate: DecisionLog.Fate?, to json: inout JSONWriter) {
    json.beginObject()
    json.field("index", index)
    json.key("eventId")
    if let eventId = eventIds[index] { json.value(eventId) } else { json.null() }
    switch status {
    case .accepted: json.field("status", "accepted")
    case .unknown: json.field("status", "unknown")
    case .rejected(let code, let message):
      json.field("status", "rejected")
      json.field("code", code)
      json.field("message", message)
    }
    if let ignored = ignored[index] { json.field("ignored", ignored) }
    if let fate { write(fate, to: &json) }
    json.endObject()
  }

  private func write(_ fate: DecisionLog.Fate, to json: inout JSONWriter) {
    json.key("fate")
    json.beginObject()
    json.field("complete", fate.isComplete)
    if fate.isKnown { json.field("known", true) }
    if let refusal = fate.refusal {
      json.field("code", refusal.code)
      json.field("message", refusal.message)
    }
    json.key("decisions")
    json.beginArray()
    for decided in fate.decided.sorted(by: { $0.userId < $1.userId }) {
      json.beginObject()
      json.field("userId", decided.userId)
      json.field("outcome", decided.outcome)
      json.field("reason", decided.reason)
      json.endObject()
    }
    json.endArray()
    json.endObject()
  }
}
