import Foundation
import HTTPServer
import WebPages

/// Random texts for keys and tokens.
package enum ConsoleSecret {
  /// 128 bits from the system, as 32 hexadecimal digits.
  package static func make() -> String {
    var random = SystemRandomNumberGenerator()
    return (0..<2).map { _ in
      let digits = String(random.next(), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// Whether a given text can be a token: it is long enough, and has the same form in a URL and in a header.
  package static func isToken(_ text: String) -> Bool {
    text.utf8.count >= 16
      && text.utf8.allSatisfy { byte in
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || ".-_~".utf8.contains(byte)
      }
  }
}

/// Decides which requests the console answers.
///
/// - **Host.** Requests for a name that is not the console's own are refused (`OwnNames`).
/// - **Token.** Every request for data has the token in a header, or the cookie that the page received for it.
/// - **Origin.** Requests that ask or write come from the console's own page, and contain a key that only that page can read.
struct ConsoleAccess: Sendable {
  enum Kind: Sendable {
    /// A static file, which contains nothing of the pipeline.
    case page
    case read
    /// Starts or cancels a question.
    case write
    /// Asks for the cookie, with the token in the body.
    case session
  }

  let token: String
  /// The cookie's value, random for each process, so that browsers do not keep a lasting token.
  let session: String
  let names: OwnNames
  /// A random key of this process.
  let key: String

  /// The refusal of a request; nil if it is answered.
  func refusal(of kind: Kind, _ header: (String) -> String?) -> HTTPServerResponse? {
    if let refusal = names.refusal(host: header("Host")) { return refusal }
    guard kind != .page else { return nil }
    if let refusal = OwnNames.refusal(ofOtherSite: header) { return refusal }
    if kind != .session, !Self.isSame(token, header("X-Nudge-Token") ?? ""), !hasCookie(header) {
      return .error(401, code: "token", message: "the console's token is missing or wrong")
    }
    guard kind != .read else { return nil }
    if let refusal = OwnNames.refusal(notFromOwnPage: header) { return refusal }
    if kind == .session { return nil }
    guard Self.isSame(key, header("X-Nudge-Console") ?? "") else {
      return .error(403, code: "key", message: "the page is of another console: load it again")
    }
    return nil
  }

  // MARK: The cookie

  private struct TokenBody: Decodable { var token: String }

  /// The cookie for somebody who knows the token. Scripts cannot read it, and requests from other sites do not send it. Its path is that of
  /// the request as the browser sees it behind a proxy.
  func session(for request: HTTPServerRequest) -> HTTPServerResponse {
    guard let body = try? JSONDecoder().decode(TokenBody.self, from: Data(request.body)), Self.isSame(token, body.token)
    else { return .error(401, code: "token", message: "the console's token is missing or wrong") }
    let isEncrypted = request.headers["Origin"]?.hasPrefix("https://") == true
    var response = HTTPServerResponse(status: 204)
    response.headers.append(
      (
        "Set-Cookie",
        "\(cookieName(request.headers["Host"] ?? ""))=\(session); HttpOnly; SameSite=Strict\(isEncrypted ? "; Secure" : "")"
      ))
    return response
  }

  private func hasCookie(_ header: (String) -> String?) -> Bool {
    let name = cookieName(header("Host") ?? "")
    return (header("Cookie") ?? "").split(separator: ";").contains { part in
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard pair.count == 2, pair[0].drop(while: { $0 == " " }) == name else { return false }
      return Self.isSame(session, String(pair[1]))
    }
  }

  /// Browsers share cookies between all ports of a host. Consoles on several ports must not overwrite each other's cookie.
  private func cookieName(_ host: String) -> String {
    let port = host.lastIndex(of: ":").map { host[host.index(after: $0)...] } ?? ""
    return "nudge-console" + (port.isEmpty || !port.allSatisfy(\.isNumber) ? "" : "-\(port)")
  }

  /// Compares two texts in constant time.
  static func isSame(_ left: String, _ right: String) -> Bool {
    let (left, right) = (Array(left.utf8), Array(right.utf8))
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
