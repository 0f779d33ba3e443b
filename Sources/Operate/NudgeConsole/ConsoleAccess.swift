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

  /// Whether a text of one's own can be a token: long enough, and the same in a URL and in a header.
  package static func isToken(_ text: String) -> Bool {
    text.utf8.count >= 16
      && text.utf8.allSatisfy { byte in
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || ".-_~".utf8.contains(byte)
      }
  }
}

/// Decides which requests the console answers.
///
/// - **Host.** A name that is not the console's own gets nothing (`OwnNames`).
/// - **Token.** Every request for data names it, in a header, or has the cookie that the page got for it.
/// - **Origin.** What asks or writes comes from the console's own page, and names a key that only that page can read.
struct ConsoleAccess: Sendable {
  enum Kind: Sendable {
    /// A static file, which holds nothing of the pipeline.
    case page
    case read
    /// Starts a question or takes it back.
    case write
    /// Asks for the cookie, with the token in its body.
    case session
  }

  let token: String
  /// The cookie's value, random for each process: a token that lasts is not kept by browsers.
  let session: String
  let names: OwnNames
  /// A random key of this process.
  let key: String

  /// Why a request gets nothing; nil: it is answered.
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

  /// The cookie for who knows the token. Scripts cannot read it, and requests that come from other sites do not carry it. Its path is
  /// that of the request, as the browser sees it behind a proxy.
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

  /// Browsers keep one jar for all ports of a host: consoles on several must not take each other's cookie.
  private func cookieName(_ host: String) -> String {
    let port = host.lastIndex(of: ":").map { host[host.index(after: $0)...] } ?? ""
    return "nudge-console" + (port.isEmpty || !port.allSatisfy(\.isNumber) ? "" : "-\(port)")
  }

  /// Takes the same time whatever differs.
  static func isSame(_ left: String, _ right: String) -> Bool {
    let (left, right) = (Array(left.utf8), Array(right.utf8))
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
