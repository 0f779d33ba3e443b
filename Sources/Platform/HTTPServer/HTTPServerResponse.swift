import Foundation

/// An answer. Date, Content-Length and Connection are added by the server; the body of an answer to HEAD is left out by it.
public struct HTTPServerResponse: Sendable {
  /// 200 to 599.
  public var status: Int
  /// In the order they are to be sent. One with a control character in it cannot be sent and turns the answer into 500.
  public var headers: [(name: String, value: String)]
  /// What follows the headers.
  public var body: [UInt8]
  /// Why it is so, in a word for metrics: the code of an error. Not sent.
  public var reason: String?

  /// An answer of any kind.
  public init(status: Int = 200, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
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

  /// JSON that is already written.
  public static func json(bytes: [UInt8], status: Int = 200) -> HTTPServerResponse {
    HTTPServerResponse(status: status, headers: [("Content-Type", "application/json")], body: bytes)
  }

  /// Plain text in UTF-8.
  public static func text(_ text: String, status: Int = 200) -> HTTPServerResponse {
    HTTPServerResponse(
      status: status, headers: [("Content-Type", "text/plain; charset=utf-8")], body: Array(text.utf8))
  }

  /// What went wrong, as `{"code", "message"}`: the code for machines, the message, with what to do, for people.
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
