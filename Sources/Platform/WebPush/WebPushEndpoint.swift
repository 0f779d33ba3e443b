public import PeerSockets
import ServiceKit

/// Where a subscription's pushes go: a URL that a browser or a distributor of UnifiedPush gave the app.
///
/// It is a secret, because whoever knows it can push. Its description has the host alone.
public struct WebPushEndpoint: Sendable, Hashable, CustomStringConvertible {
  /// The longest URL in bytes.
  public static let longest = 2_048

  /// Why a URL is no endpoint; the URL is not in it.
  public enum Invalid: Error, Equatable, CustomStringConvertible {
    case tooLong
    /// It has blanks, control characters or characters outside of ASCII.
    case characters
    /// It is not https, nor http where that is allowed.
    case scheme
    /// It has a user name, a password or a fragment.
    case parts
    /// It has no host, or one that is neither a name nor an address in its usual form.
    case host
    case port

    /// The rule that is broken.
    public var description: String {
      switch self {
      case .tooLong: "must have at most \(WebPushEndpoint.longest) characters"
      case .characters: "must have printed ASCII characters alone, and none of \\, \", < and >"
      case .scheme: "must be an https URL"
      case .parts: "must have no user name, no password and no fragment"
      case .host: "must have a host that is a name or an address in its usual form"
      case .port: "must have a port from 1 to 65535, or none"
      }
    }
  }

  /// The whole URL.
  public let url: String
  /// The host in lower case; an IPv6 address without its brackets.
  public let host: String
  /// The port, 443 or 80 where the URL names none.
  public let port: Int
  /// Scheme, host and port: the audience of VAPID tokens.
  public let origin: String
  /// The address in place of a name.
  public let address: IPAddress?

  public var description: String { "push endpoint at \(host)" }

  /// Reads a URL.
  /// - Parameter allowsPlain: Also `http`: for tests and closed networks.
  public init(_ url: String, allowsPlain: Bool = false) throws(Invalid) {
    guard url.utf8.count <= Self.longest else { throw .tooLong }
    guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x5C && $0 != 0x22 && $0 != 0x3C && $0 != 0x3E })
    else {
      throw .characters
    }
    guard let colon = url.firstRange(of: "://") else { throw .scheme }
    let scheme = url[..<colon.lowerBound].lowercased()
    guard scheme == "https" || allowsPlain && scheme == "http" else { throw .scheme }
    let rest = url[colon.upperBound...]
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard !url.utf8.contains(0x23), !authority.utf8.contains(0x40) else { throw .parts }
    let (name, portText) = try Self.split(authority)
    guard let portText else { throw .port }
    let standard = scheme == "https" ? 443 : 80
    if portText.isEmpty {
      port = standard
    } else {
      guard portText.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(portText),
        (1...65_535).contains(number)
      else { throw .port }
      port = number
    }
    let isBracketed = name.hasPrefix("[")
    host = (isBracketed ? String(name.dropFirst().dropLast()) : String(name)).lowercased()
    if isBracketed {
      guard case .v6(let bytes)? = IPAddress(host) else { throw .host }
      address = .v6(bytes)
    } else {
      address = try Self.address(orName: host)
    }
    self.url = url
    let shown = isBracketed ? "[\(host)]" : host
    origin = "\(scheme)://\(shown)" + (port == standard ? "" : ":\(port)")
  }

  /// The host, with its brackets, and the text of the port; nil for the port: it is no port.
  private static func split(_ authority: Substring) throws(Invalid) -> (host: Substring, port: Substring?) {
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { throw .host }
      let rest = authority[authority.index(after: end)...]
      return (authority[...end], rest.isEmpty ? rest : rest.hasPrefix(":") ? rest.dropFirst() : nil)
    }
    guard let colon = authority.firstIndex(of: ":") else { return (authority, authority[authority.endIndex...]) }
    return (authority[..<colon], authority[authority.index(after: colon)...])
  }

  /// The address that a host is; nil for a name. Other forms of addresses (`0x7f.1`, `2130706433`), which resolvers take for one, are
  /// refused.
  private static func address(orName host: String) throws(Invalid) -> IPAddress? {
    let name = host.hasSuffix(".") ? String(host.dropLast()) : host
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    guard name.utf8.count <= 253, !name.isEmpty,
      labels.allSatisfy({ label in
        (1...63).contains(label.utf8.count) && label.utf8.allSatisfy(isNamePart) && !label.hasPrefix("-")
          && !label.hasSuffix("-")
      }), let last = labels.last
    else { throw .host }
    let looksLikeNumber = last.utf8.allSatisfy { (0x30...0x39).contains($0) } || last.hasPrefix("0x")
    guard looksLikeNumber else { return nil }
    guard !host.hasSuffix("."), case .v4(let bytes)? = IPAddress(host) else { throw .host }
    return .v4(bytes)
  }

  private static func isNamePart(_ byte: UInt8) -> Bool {
    (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x5F
  }
}

/// Which endpoints may be sent to. Endpoints are URLs that users of an app choose: without rules one could make the dispatcher ask the
/// servers beside it.
public struct EndpointRules: Sendable, Equatable {
  /// Why an endpoint is not sent to.
  public enum Refusal: Error, Equatable, CustomStringConvertible {
    /// Its host is not among those that are allowed.
    case host
    /// It is, or leads to, an address that is not of the public internet.
    case address

    /// The rule that is broken.
    public var description: String {
      switch self {
      case .host: "must have one of the hosts that --web-push-hosts allows"
      case .address: "must lead to a public address (private ones need --web-push-allow-private)"
      }
    }
  }

  /// Hosts that are allowed, in lower case: `push.example.org`, or `*.example.org` for every host below. Empty: all, at public addresses.
  public let hosts: [String]
  /// Private addresses are allowed: for tests and closed networks.
  public let allowsPrivateAddresses: Bool

  /// Rules; by default every host at a public address.
  public init(hosts: [String] = [], allowsPrivateAddresses: Bool = false) {
    self.hosts = hosts.map { $0.lowercased() }
    self.allowsPrivateAddresses = allowsPrivateAddresses
  }

  /// Judges an endpoint before its name is resolved.
  public func check(_ endpoint: WebPushEndpoint) throws(Refusal) {
    guard hosts.isEmpty || isListed(endpoint.host) else { throw .host }
    if let address = endpoint.address { return try check(address, of: endpoint) }
    guard allowsPrivateAddresses || !hosts.isEmpty || !Self.isLocal(endpoint.host) else { throw .address }
  }

  /// Reads an endpoint, and judges it before its name is resolved. Plain http is allowed where private addresses are.
  public func endpoint(_ url: String) throws -> WebPushEndpoint {
    let endpoint = try WebPushEndpoint(url, allowsPlain: allowsPrivateAddresses)
    try check(endpoint)
    return endpoint
  }

  /// Whether this is a host, or `*.` and a host, for the list.
  public static func isPattern(_ text: String) -> Bool {
    let host = text.hasPrefix("*.") ? text.dropFirst(2) : text[...]
    return !host.contains { "/?#:@".contains($0) } && (try? WebPushEndpoint("https://\(host)/")) != nil
  }

  /// Whether a name never leads to the public internet: one without a dot, or `localhost` and what is below it (RFC 6761).
  private static func isLocal(_ name: String) -> Bool {
    let name = name.hasSuffix(".") ? name.dropLast() : name[...]
    return !name.contains(".") || name.hasSuffix(".localhost")
  }

  /// Judges the address that a connection goes to. A name may lead elsewhere each time that it is resolved: what counts is the address
  /// that is connected to.
  public func check(_ address: IPAddress, of endpoint: WebPushEndpoint) throws(Refusal) {
    // The operator has vouched for hosts on the list.
    guard allowsPrivateAddresses || !hosts.isEmpty && isListed(endpoint.host) || address.isPublic else {
      throw .address
    }
  }

  private func isListed(_ host: String) -> Bool { pattern(of: host) != nil }

  /// The entry of the list that allows a host; nil: none does.
  public func pattern(of host: String) -> String? {
    let host = host.hasSuffix(".") ? host.dropLast() : host[...]
    return hosts.first { pattern in
      pattern.hasPrefix("*.")
        ? host.hasSuffix(pattern.dropFirst()) && host.utf8.count > pattern.utf8.count - 1 : host == pattern
    }
  }
}
