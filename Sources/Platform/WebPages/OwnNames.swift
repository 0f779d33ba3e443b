import Glibc
package import HTTPServer

/// The host names of a server with a page.
///
/// Through DNS a foreign page can point its own name to this machine's address, and read what a browser fetches from
/// it. So requests for any other host name are refused.
package struct OwnNames: Sendable {
  /// The message of a refusal.
  private let refusal: String
  /// Names besides those of this machine, in lower case.
  private let names: Set<String>

  /// - Parameters:
  ///   - server: The server in words, for refusals.
  ///   - names: Names besides addresses and localhost.
  ///   - fix: How to add a name, in words.
  package init(of server: String, _ names: [String] = [], fix: String? = nil) {
    refusal = "\(server) does not go by this name: open it by its address" + (fix.map { ", or \($0)" } ?? "")
    self.names = Set(names.map { $0.lowercased() })
  }

  /// The refusal of a request by its `Host`; nil if the name is the server's own.
  package func refusal(host: String?) -> HTTPServerResponse? {
    if let host, isOwn(host) { return nil }
    return .error(421, code: "foreign_host", message: refusal)
  }

  /// The refusal of a request that changes or reveals something; nil if it comes from the server's own page.
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

  /// Whether a name is an address, which no DNS can redirect.
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
