import Foundation

/// An answer. The server adds Date, Content-Length and Connection, and omits the body of an answer to HEAD.
public struct HTTPServerResponse: Sendable {
  /// 200 to 599.
  public var status: Int
  /// Sent in this order. A control character in a header turns the answer into 500.
  public var headers: [(name: String, value: String)]
  public var body: [UInt8]
  /// Takes the place of the body.
  public var stream: HTTPStream?
  /// The code of an error, for metrics. Not sent.
  public var reason: String?

  public init(status: Int = 200, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// An answer whose body is a stream.
  public init(status: Int = 200, headers: [(name: String, value: String)] = [], stream: HTTPStream) {
    self.init(status: status, headers: headers)
    self.stream = stream
  }

  /// A value as JSON, object keys in alphabetical order. A value that cannot be encoded is answered with 500.
  public static func json(_ value: some Encodable, status: Int = 200) -> HTTPServerResponse {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return json(bytes: Array(try encoder.encode(value)), status: status)
    } catch {
      return .error(500, code: "internal", message: "the answer could not be written as JSON")
    }
  }

  /// Encoded JSON.
  public static func json(bytes: [UInt8], status: Int = 200) -> HTTPServerResponse {
    HTTPServerResponse(status: status, headers: [("Content-Type", "application/json")], body: bytes)
  }

  /// Plain text in UTF-8.
  public static func text(_ text: String, status: Int = 200) -> HTTPServerResponse {
    HTTPServerResponse(
      status: status, headers: [("Content-Type", "text/plain; charset=utf-8")], body: Array(text.utf8))
  }

  /// An error as `{"code", "message"}`: the code for machines, the message with the fix for people.
  public static func error(_ status: Int, code: String, message: String) -> HTTPServerResponse {
    var response = json(ErrorBody(code: code, message: message), status: status)
    response.reason = code
    return response
  }

  private struct ErrorBody: Encodable {
    let code: String
    let message: String
  }
}
