import Glibc
package import HTTPServer

/// The names that a server of a page goes by.
///
/// By DNS a foreign page can give its name this machine's address, and read what a browser fetches from there. So a name that is not the
/// server's own gets nothing.
package struct OwnNames: Sendable {
  /// The message of a refusal.
  private let refusal: String
  /// Names beside those of this machine, in lower case.
  private let names: Set<String>

  /// - Parameters:
  ///   - server: In words, for refusals.
  ///   - names: Those beside addresses and localhost.
  ///   - fix: How one more is given, in words.
  package init(of server: String, _ names: [String] = [], fix: String? = nil) {
    refusal = "\(server) does not go by this name: open it by its address" + (fix.map { ", or \($0)" } ?? "")
    self.names = Set(names.map { $0.lowercased() })
  }

  /// Why a request gets nothing, by its `Host`; nil: the name is the server's own.
  package func refusal(host: String?) -> HTTPServerResponse? {
    if let host, isOwn(host) { return nil }
    return .error(421, code: "foreign_host", message: refusal)
  }

  /// Why a request gets nothing that changes or gives away something; nil: it comes from the server's own page.
  package static func refusal(notFromOwnPage header: (String) -> String?) -> HTTPServerResponse? {
    if let refusal = refusal(ofOtherSite: header) { return refusal }
    guard let host = header("Host"), let origin = header("Origin"), self.host(ofOrigin: origin) == host.lowercased()
    else { return foreignOrigin }
    return nil
  }

  /// Why a request gets nothing where the browser says that another site asks; nil: it does not.
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

  /// The name without a port; nil for what is no host.
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

  /// Whether a name is a number that no DNS can point elsewhere.
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
