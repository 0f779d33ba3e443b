public import PeerSockets
import ServiceKit

/// The URL to which a subscription's pushes are sent. A browser or a distributor of UnifiedPush gave it to the app.
///
/// It is a secret, because whoever knows it can send pushes. Its description contains only the host.
public struct WebPushEndpoint: Sendable, Hashable, CustomStringConvertible {
  /// The longest URL in bytes.
  public static let longest = 2_048

  /// Why a URL is not an endpoint, without the URL.
  public enum Invalid: Error, Equatable, CustomStringConvertible {
    case tooLong
    /// It contains blanks, control characters or characters outside of ASCII.
    case characters
    /// It is not https, or not http where that is allowed.
    case scheme
    /// It has a user name, a password or a fragment.
    case parts
    /// It has no host, or one that is neither a name nor an address in its usual form.
    case host
    case port

    /// The broken rule.
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

  /// The complete URL.
  public let url: String
  /// The host in lower case; an IPv6 address without its brackets.
  public let host: String
  /// The port; 443 or 80 if the URL names none.
  public let port: Int
  /// Scheme, host and port: the audience of VAPID tokens.
  public let origin: String
  /// The address if the host is not a name.
  public let address: IPAddress?

  public var description: String { "push endpoint at \(host)" }

  /// Reads a URL.
  /// - Parameter allowsPlain: Whether `http` is also allowed, for tests and closed networks.
  public init(_ url: String, allowsPlain: Bool = false) throws(Invalid) {
    self.url = url
    var text = url
    // Works on bytes, in one pass each. A URL is read several times per push, and reading its characters would take
    // longer than encryption.
    let parts = text.withUTF8 { bytes in Result { () throws(Invalid) in try Parts(bytes, allowsPlain: allowsPlain) } }
    switch parts {
    case .success(let parts): (host, port, origin, address) = (parts.host, parts.port, parts.origin, parts.address)
    case .failure(let reason): throw reason
    }
  }

  /// The parts of a URL.
  private struct Parts {
    var host: String
    var port: Int
    var origin: String
    var address: IPAddress?

    init(_ url: UnsafeBufferPointer<UInt8>, allowsPlain: Bool) throws(Invalid) {
      guard url.count <= WebPushEndpoint.longest else { throw .tooLong }
      guard url.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x5C && $0 != 0x22 && $0 != 0x3C && $0 != 0x3E })
      else {
        throw .characters
      }
      let isSecure = Self.starts(url, with: "https://")
      guard isSecure || allowsPlain && Self.starts(url, with: "http://") else { throw .scheme }
      let rest = url[(isSecure ? 8 : 7)...]
      // A path, a query or a fragment begins here.
      let end = rest.firstIndex { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 } ?? rest.endIndex
      let authority = rest[..<end]
      guard !rest[end...].contains(0x23), !authority.contains(0x40) else { throw .parts }
      let (name, portDigits) = try Self.split(authority)
      guard let portDigits else { throw .port }
      let standard = isSecure ? 443 : 80
      port = portDigits.isEmpty ? standard : try Self.number(portDigits)
      let isBracketed = name.first == 0x5B
      let plain = isBracketed ? name.dropFirst().dropLast() : name
      host = String(unsafeUninitializedCapacity: plain.count) { lower in
        for (place, byte) in plain.enumerated() { lower[place] = ASCII.lowercased(byte) }
        return plain.count
      }
      if isBracketed {
        guard case .v6(let bytes)? = IPAddress(host) else { throw .host }
        address = .v6(bytes)
      } else {
        address = try Self.address(orName: plain, host)
      }
      origin = (isSecure ? "https://" : "http://") + (isBracketed ? "[\(host)]" : host)
      if port != standard { origin += ":\(port)" }
    }

    private static func starts(_ url: UnsafeBufferPointer<UInt8>, with scheme: StaticString) -> Bool {
      scheme.withUTF8Buffer { scheme in
        url.count >= scheme.count && zip(url, scheme).allSatisfy { ASCII.lowercased($0) == $1 }
      }
    }

    /// The host with its brackets, and the digits of the port; nil if the port is not valid.
    private static func split(
      _ authority: Slice<UnsafeBufferPointer<UInt8>>
    ) throws(Invalid) -> (host: Slice<UnsafeBufferPointer<UInt8>>, port: Slice<UnsafeBufferPointer<UInt8>>?) {
      if authority.first == 0x5B {
        guard let end = authority.firstIndex(of: 0x5D) else { throw .host }
        let rest = authority[(end + 1)...]
        return (authority[...end], rest.isEmpty ? rest : rest.first == 0x3A ? rest.dropFirst() : nil)
      }
      guard let colon = authority.firstIndex(of: 0x3A) else { return (authority, authority[authority.endIndex...]) }
      return (authority[..<colon], authority[(colon + 1)...])
    }

    private static func number(_ digits: Slice<UnsafeBufferPointer<UInt8>>) throws(Invalid) -> Int {
      var number = 0
      for digit in digits {
        guard (0x30...0x39).contains(digit) else { throw .port }
        number = 10 * number + Int(digit - 0x30)
        guard number <= 65_535 else { throw .port }
      }
      guard number >= 1 else { throw .port }
      return number
    }

    /// The address that a host contains; nil for a name. Other forms of addresses (`0x7f.1`, `2130706433`), which
    /// resolvers accept, are refused.
    private static func address(
      orName name: Slice<UnsafeBufferPointer<UInt8>>, _ host: String
    ) throws(Invalid) -> IPAddress? {
      let isRooted = name.last == 0x2E
      let name = isRooted ? name.dropLast() : name
      guard name.count <= 253, !name.isEmpty else { throw .host }
      var last = name[name.endIndex...]
      var start = name.startIndex
      while start <= name.endIndex {
        let end = name[start...].firstIndex(of: 0x2E) ?? name.endIndex
        last = name[start..<end]
        guard (1...63).contains(last.count), last.allSatisfy(Self.isNamePart), last.first != 0x2D, last.last != 0x2D
        else { throw .host }
        start = end + 1
      }
      let isHexadecimal = last.count > 1 && last[last.startIndex] == 0x30 && last[last.startIndex + 1] | 0x20 == 0x78
      guard isHexadecimal || last.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      guard !isRooted, case .v4(let bytes)? = IPAddress(host) else { throw .host }
      return .v4(bytes)
    }

    private static func isNamePart(_ byte: UInt8) -> Bool {
      (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x5F
    }
  }
}

/// The endpoints to which pushes may be sent. Users of an app choose the endpoint URLs; without rules they could make
/// the dispatcher send requests to internal servers.
public struct EndpointRules: Sendable, Equatable {
  /// Why nothing is sent to an endpoint.
  public enum Refusal: Error, Equatable, CustomStringConvertible {
    /// Its host is not on the list.
    case host
    /// It is, or resolves to, an address that is not on the public internet.
    case address

    /// The broken rule.
    public var description: String {
      switch self {
      case .host: "must have one of the hosts that --web-push-hosts allows"
      case .address: "must lead to a public address (private ones need --web-push-allow-private)"
      }
    }
  }

  /// Allowed hosts in lower case: `push.example.org`, or `*.example.org` for every host below it. An empty list allows
  /// every host at a public address.
  public let hosts: [String]
  /// Whether private addresses are allowed, for tests and closed networks.
  public let allowsPrivateAddresses: Bool

  /// Rules. By default every host at a public address is allowed.
  public init(hosts: [String] = [], allowsPrivateAddresses: Bool = false) {
    self.hosts = hosts.map { $0.lowercased() }
    self.allowsPrivateAddresses = allowsPrivateAddresses
  }

  /// Checks an endpoint before its name is resolved.
  public func check(_ endpoint: WebPushEndpoint) throws(Refusal) {
    guard hosts.isEmpty || isListed(endpoint.host) else { throw .host }
    if let address = endpoint.address { return try check(address, of: endpoint) }
    guard allowsPrivateAddresses || !hosts.isEmpty || !Self.isLocal(endpoint.host) else { throw .address }
  }

  /// Reads an endpoint and checks it before its name is resolved. Plain http is allowed if private addresses are.
  public func endpoint(_ url: String) throws -> WebPushEndpoint {
    let endpoint = try WebPushEndpoint(url, allowsPlain: allowsPrivateAddresses)
    try check(endpoint)
    return endpoint
  }

  /// Whether a text is a host, or `*.` and a host, for the list.
  public static func isPattern(_ text: String) -> Bool {
    let host = text.hasPrefix("*.") ? text.dropFirst(2) : text[...]
    return !host.contains { "/?#:@".contains($0) } && (try? WebPushEndpoint("https://\(host)/")) != nil
  }

  /// Whether a name never leads to the public internet: a name without a dot, or `localhost` and names below it (RFC
  /// 6761).
  private static func isLocal(_ name: String) -> Bool {
    let name = name.utf8.last == 0x2E ? name.utf8.dropLast() : name.utf8[...]
    return !name.contains(0x2E) || name.suffix(10).elementsEqual(".localhost".utf8)
  }

  /// Checks the address to which a connection goes. A name may resolve to another address each time, so only the
  /// address of the connection counts.
  public func check(_ address: IPAddress, of endpoint: WebPushEndpoint) throws(Refusal) {
    // The operator has approved the hosts on the list.
    guard allowsPrivateAddresses || !hosts.isEmpty && isListed(endpoint.host) || address.isPublic else {
      throw .address
    }
  }

  private func isListed(_ host: String) -> Bool { pattern(of: host) != nil }

  /// The list's entry that allows a host; nil if none does.
  public func pattern(of host: String) -> String? {
    let host = host.utf8.last == 0x2E ? host.utf8.dropLast() : host.utf8[...]
    return hosts.first { pattern in
      guard pattern.utf8.starts(with: "*.".utf8) else { return host.elementsEqual(pattern.utf8) }
      let parent = pattern.utf8.dropFirst()
      return host.count > parent.count && host.suffix(parent.count).elementsEqual(parent)
    }
  }
}
