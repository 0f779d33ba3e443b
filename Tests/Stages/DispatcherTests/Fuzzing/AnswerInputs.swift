import CLibcurl
import NudgeSchema
import PeerSockets
import WebPush

@testable import Dispatcher

/// What push services answer, and the addresses that apps choose: all that the dispatcher reads of strangers. A test feeds it from
/// the corpus, `Tests/trial fuzz` with random bytes.
///
/// The first byte of an input says what the others are.
enum AnswerInputs {
  /// The kind of an input.
  enum Kind: UInt8, CaseIterable {
    /// FCM's answer: a line with the status, one with `Retry-After`, the body.
    case fcm = 0x46
    /// The address of a push subscription.
    case endpoint = 0x45
    /// The address of a picture.
    case picture = 0x50
    /// The keys of a subscription: a line with `p256dh`, one with `auth`.
    case keys = 0x4B
  }

  private static let now: Milliseconds = 1_950_000_000_000
  private static let day: Milliseconds = 86_400_000

  /// Reads an input; returns the rule it breaks, nil if none.
  static func violation(of input: [UInt8]) -> String? {
    guard let kind = input.first.flatMap({ Kind(rawValue: $0) }) else { return nil }
    let bytes = input.dropFirst()
    switch kind {
    case .fcm: return fcm(bytes)
    case .endpoint: return endpoint(String(decoding: bytes, as: UTF8.self))
    case .picture: return picture(String(decoding: bytes, as: UTF8.self))
    case .keys: return keys(bytes)
    }
  }

  /// Only a status of the 200s is a push that was sent; no wait is longer than a day; what gets into records is a short word.
  private static func fcm(_ bytes: ArraySlice<UInt8>) -> String? {
    let lines = bytes.split(separator: 0x0A, maxSplits: 2, omittingEmptySubsequences: false)
    guard lines.count == 3, let status = Int(String(decoding: lines[0], as: UTF8.self)), (100...999).contains(status)
    else { return nil }
    let header = String(decoding: lines[1], as: UTF8.self)
    let answer = PushAnswer(
      status: status, retryAfter: header.isEmpty ? nil : header, body: Array(lines[2]), now: now)
    guard answer.isSent == (200..<300).contains(status) else { return "\(status) is read as \(answer.verdict)" }
    if let wait = answer.retryAfter, !(0...day).contains(wait) { return "a wait of \(wait) ms" }
    if let code = answer.errorCode, !isWord(code) { return "the code has \(code.utf8.count) bytes: \(code)" }
    return nil
  }

  private static func isWord(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || $0 == 0x5F }
  }

  /// Whoever connects finds the host, the port and the scheme that the rules judged: libcurl reads the same address by itself.
  private static func endpoint(_ text: String) -> String? {
    guard let endpoint = try? WebPushEndpoint(text, allowsPlain: true) else { return nil }
    let shown = endpoint.host.contains(":") ? "[\(endpoint.host)]" : endpoint.host
    guard let part = CurlAddress(endpoint.url) else { return "libcurl refuses it" }
    guard part.user == nil, part.fragment == nil else { return "libcurl finds a login or a fragment" }
    guard part.host?.lowercased() == shown || sameAddress(part.host, endpoint.host) else {
      return "judged: \(shown), connected to: \(part.host ?? "nothing")"
    }
    let standard = part.scheme == "https" ? 443 : 80
    guard endpoint.port == part.port.flatMap({ Int($0) }) ?? standard else {
      return "judged: port \(endpoint.port), connected to: \(part.port ?? "the usual one")"
    }
    guard part.scheme.map({ endpoint.origin.hasPrefix("\($0)://") }) ?? false else { return "another scheme" }
    return endpoint.description.contains(endpoint.url) ? "the description has the address" : nil
  }

  /// libcurl writes addresses of version 6 in their shortest form.
  private static func sameAddress(_ host: String?, _ other: String) -> Bool {
    guard let host, host.hasPrefix("["), host.hasSuffix("]") else { return false }
    return IPAddress(String(host.dropFirst().dropLast())).map { $0 == IPAddress(other) } ?? false
  }

  /// Another reader finds the host that was compared with the operator's list.
  private static func picture(_ text: String) -> String? {
    guard let address = HTTPSAddress(text), let part = CurlAddress(text) else { return nil }
    guard part.scheme == "https", part.user == nil else { return "not plainly https" }
    let host = part.host?.lowercased()
    return host == address.host || sameAddress(host, String(address.host.dropFirst().dropLast()))
      ? nil : "judged: \(address.host), fetched from: \(host ?? "nothing")"
  }

  /// Keys that are accepted are of their length, and the reason to refuse others has nothing of them.
  private static func keys(_ bytes: ArraySlice<UInt8>) -> String? {
    let lines = bytes.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard lines.count == 2 else { return nil }
    do throws(WebPushKeys.Invalid) {
      _ = try WebPushKeys(p256dh: lines[0], auth: lines[1])
      return lines[0].utf8.count == 87 && lines[1].utf8.count == 22 ? nil : "keys of another length are accepted"
    } catch {
      return lines.contains { $0.utf8.count >= 16 && "\(error)".contains($0) } ? "the reason repeats a key" : nil
    }
  }
}

/// An address as libcurl reads it.
private struct CurlAddress {
  let scheme: String?
  let host: String?
  let port: String?
  let user: String?
  let fragment: String?

  init?(_ text: String) {
    guard let handle = curl_url() else { return nil }
    defer { curl_url_cleanup(handle) }
    guard curl_url_set(handle, CURLUPART_URL, text, 0) == CURLUE_OK else { return nil }
    func part(_ part: CURLUPart) -> String? {
      var found: UnsafeMutablePointer<CChar>?
      guard curl_url_get(handle, part, &found, 0) == CURLUE_OK, let found else { return nil }
      defer { curl_free(found) }
      return String(cString: found)
    }
    scheme = part(CURLUPART_SCHEME)
    host = part(CURLUPART_HOST)
    port = part(CURLUPART_PORT)
    user = part(CURLUPART_USER)
    fragment = part(CURLUPART_FRAGMENT)
  }
}
