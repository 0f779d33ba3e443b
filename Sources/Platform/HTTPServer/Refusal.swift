/// The answer to a request that no handler receives.
struct Refusal: Error {
  let response: HTTPServerResponse

  static let badTarget = Refusal(
    response: .error(400, code: "bad_request", message: "the path or query is not valid: check its percent escapes"))

  /// Has no headers, so that it can always be sent.
  static let badAnswer = HTTPServerResponse(
    status: 500, body: Array(#"{"code":"internal","message":"the answer had an invalid header"}"#.utf8))

  static let stopping: HTTPServerResponse = {
    var response = HTTPServerResponse.error(
      503, code: "stopping", message: "the server is stopping: send the request again, to another instance")
    response.headers.append(("Retry-After", "1"))
    return response
  }()

  static let noRoom: HTTPServerResponse = {
    var response = HTTPServerResponse.error(
      503, code: "overloaded", message: "the server holds as many request bodies as it may: send the same again later")
    response.headers.append(("Retry-After", "1"))
    return response
  }()

  static func tooManyConnections(limit: Int) -> HTTPServerResponse {
    var response = HTTPServerResponse.error(
      429, code: "too_many_connections",
      message: "your address may have \(limit) connections open: close some, or send more requests on each")
    response.headers.append(("Retry-After", "1"))
    return response
  }

  static func badFraming(_ fault: RequestFraming.Fault) -> HTTPServerResponse {
    .error(400, code: "bad_request", message: "\(fault)")
  }

  static func notFound(_ path: String) -> Refusal {
    Refusal(response: .error(404, code: "not_found", message: "there is nothing at \(path)"))
  }

  static func wrongMethod(_ method: HTTPMethod, allowed: [String]) -> Refusal {
    let methods = allowed.joined(separator: ", ")
    var response = HTTPServerResponse.error(
      405, code: "method_not_allowed", message: "\(method.rawValue) is not allowed here: use \(methods)")
    response.headers.append(("Allow", methods))
    return Refusal(response: response)
  }

  static func wrongType(allowed: [String]) -> Refusal {
    Refusal(
      response: .error(
        415, code: "unsupported_media_type", message: "set Content-Type to \(allowed.joined(separator: " or "))"))
  }

  static func tooLarge(limit: Int) -> HTTPServerResponse {
    .error(413, code: "too_large", message: "the body may have at most \(limit) bytes: send less at once")
  }
}
