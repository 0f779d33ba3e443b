import CWebPages
import Foundation
import Glibc
package import HTTPServer

/// The static files of a page, which the program contains.
package struct WebPages: Sendable {
  /// A file.
  package struct File: Sendable {
    /// The value of Content-Type.
    package let type: String
    package let bytes: [UInt8]
  }

  /// The operator's console.
  package static let console = WebPages(folder: "console")
  /// The emulator's page with phones.
  package static let phones = WebPages(folder: "phones")

  /// All files, by their paths below the page's address.
  package let files: [String: File]

  private init(folder: String) {
    var files: [String: File] = [:]
    for index in 0..<web_page_count() {
      let page = web_page_at(index)
      guard String(cString: page.folder) == folder else { continue }
      files[String(cString: page.name)] = File(
        type: String(cString: page.type), bytes: Array(UnsafeBufferPointer(start: page.bytes, count: page.size)))
    }
    self.files = files
  }

  /// The answer with a file, or 404 if there is none.
  package func answer(_ name: String) -> HTTPServerResponse {
    guard let file = files[name] else { return .error(404, code: "not_found", message: "there is no such page") }
    return HTTPServerResponse(headers: [("Content-Type", file.type)], body: file.bytes)
  }

  /// The origin of an address, as headers have it: scheme, host and port; nil if the text is not an address.
  package static func origin(of address: String) -> String? {
    guard let parts = URLComponents(string: address), let scheme = parts.scheme, let host = parts.host else {
      return nil
    }
    return "\(scheme)://\(host)" + (parts.port.map { ":\($0)" } ?? "")
  }

  /// The headers of every answer. They forbid content from other origins, and keep texts in a page from becoming markup
  /// or script.
  ///
  /// - Parameters:
  ///   - connect: Origins to which scripts may connect besides the page's own.
  ///   - frames: Origins of pages that the page may embed.
  ///   - embeddedBy: Origins of pages that may embed the page.
  package static func headers(
    connect: [String] = [], frames: [String] = [], embeddedBy: [String] = []
  ) -> [(name: String, value: String)] {
    func list(_ origins: [String]) -> String { origins.isEmpty ? "'none'" : origins.joined(separator: " ") }
    var headers: [(name: String, value: String)] = [
      (
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
          + "connect-src \(list(["'self'"] + connect)); frame-src \(list(frames)); base-uri 'none'; form-action 'none'; "
          + "frame-ancestors \(list(embeddedBy)); require-trusted-types-for 'script'; trusted-types 'none'"
      ),
      ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
      ("Cross-Origin-Opener-Policy", "same-origin"), ("Cache-Control", "no-store"),
    ]
    if embeddedBy.isEmpty {
      headers += [("X-Frame-Options", "DENY"), ("Cross-Origin-Resource-Policy", "same-origin")]
    }
    return headers
  }
}

/// The host names of a server with a page. Requests for any other name are refused.
///
/// This prevents DNS rebinding: a foreign page points its own name to this machine's address, and reads what the
/// browser then fetches from the machine.
package struct OwnNames: Sendable {
  /// The message of a refusal.
  private let refusal: String
  /// Names besides those of this machine, in lower case.
  private let names: Set<String>

  /// - Parameters:
  ///   - server: The server in words, for refusals.
  ///   - names: Names besides localhost and IP addresses, which are always allowed.
  ///   - fix: How to add a name, for the text of a refusal.
  package init(of server: String, _ names: [String] = [], fix: String? = nil) {
    refusal = "\(server) does not go by this name: open it by its address" + (fix.map { ", or \($0)" } ?? "")
    self.names = Set(names.map { $0.lowercased() })
  }

  /// The refusal of a request by its `Host`; nil if the name is the server's own.
  package func refusal(host: String?) -> HTTPServerResponse? {
    if let host, isOwn(host) { return nil }
    return .error(421, code: "foreign_host", message: refusal)
  }

  /// The refusal of a request that changes or reveals something; nil if the server's own page makes the request.
  package static func refusal(notFromOwnPage header: (String) -> String?) -> HTTPServerResponse? {
    if let refusal = refusal(ofOtherSite: header) { return refusal }
    guard let host = header("Host"), let origin = header("Origin"), self.host(ofOrigin: origin) == host.lowercased()
    else { return foreignOrigin }
    return nil
  }

  /// The refusal of a request if the browser says that another site makes it; nil otherwise.
  package static func refusal(ofOtherSite header: (String) -> String?) -> HTTPServerResponse? {
    guard let site = header("Sec-Fetch-Site"), site != "same-origin", site != "none" else { return nil }
    return foreignOrigin
  }

  private static var foreignOrigin: HTTPServerResponse {
    .error(403, code: "foreign_origin", message: "the request comes from another page")
  }

  private func isOwn(_ host: String) -> Bool {
    guard let name = Self.name(ofHost: host.lowercased()) else { return false }
    return name == "localhost" || Self.isAddress(name) || names.contains(name)
  }

  /// The name without a port; nil if the text is not a host.
  private static func name(ofHost host: String) -> String? {
    if host.hasPrefix("[") {
      guard let end = host.firstIndex(of: "]") else { return nil }
      let rest = host[host.index(after: end)...]
      guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
      return String(host[host.index(after: host.startIndex)..<end])
    }
    let parts = host.split(separator: ":", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), !parts[0].isEmpty else { return nil }
    return String(parts[0])
  }

  /// Whether a name is an IP address, which DNS cannot redirect.
  private static func isAddress(_ name: String) -> Bool {
    var four = in_addr()
    var six = in6_addr()
    return inet_pton(AF_INET, name, &four) == 1 || inet_pton(AF_INET6, name, &six) == 1
  }

  private static func host(ofOrigin origin: String) -> String? {
    for scheme in ["http://", "https://"] where origin.hasPrefix(scheme) {
      return String(origin.dropFirst(scheme.count)).lowercased()
    }
    return nil
  }
}
