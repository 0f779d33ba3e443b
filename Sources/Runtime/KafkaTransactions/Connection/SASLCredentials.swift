import OAuthBearer

/// The client's credentials and SASL mechanism.
enum SASLCredentials: Sendable {
  case plain(user: String, password: String)
  case scram(SCRAMHash, user: String, password: String)
  case bearer(BearerTokenSource)

  /// The mechanism's registered name.
  var mechanism: String {
    switch self {
    case .plain: "PLAIN"
    case .scram(.sha256, _, _): "SCRAM-SHA-256"
    case .scram(.sha512, _, _): "SCRAM-SHA-512"
    case .bearer: "OAUTHBEARER"
    }
  }

  /// A login for one connection. Fetches a token if it needs one.
  func makeLogin(deadline: Deadline) throws(BearerTokenError) -> any SASLLogin {
    switch self {
    case .plain(let user, let password): PlainLogin(user: user, password: password)
    case .scram(let hash, let user, let password):
      SCRAMLogin(
        hash, user: user, password: password,
        nonce: Array((0..<24).map { _ in UInt8.random(in: .min ... .max) }.base64.utf8))
    case .bearer(let source):
      BearerLogin(token: try source.token(timeout: deadline.remaining), extensions: source.settings.extensions)
    }
  }
}

/// One login: the client's messages and the broker's replies.
protocol SASLLogin {
  var first: [UInt8] { get }
  /// The next message after a reply; nil if the login is complete.
  mutating func answer(to message: [UInt8]) throws(SASLError) -> [UInt8]?
}

/// An error in a broker's part of a login.
enum SASLError: Error, Equatable, CustomStringConvertible {
  /// The broker's message does not follow the mechanism.
  case malformed(String)
  /// The broker has not proved that it knows the password.
  case notTheServer

  var description: String {
    switch self {
    case .malformed(let what): "the broker's message is not one of this mechanism: \(what)"
    case .notTheServer: "the broker does not prove that it knows the password"
    }
  }
}

/// RFC 4616: user and password in plain text, for encrypted connections.
struct PlainLogin: SASLLogin {
  let user: String
  let password: String

  var first: [UInt8] { [0] + Array(user.utf8) + [0] + Array(password.utf8) }

  mutating func answer(to message: [UInt8]) throws(SASLError) -> [UInt8]? { nil }
}

/// RFC 7628: a bearer token, for encrypted connections.
struct BearerLogin: SASLLogin {
  let token: BearerToken
  let extensions: [BearerTokenSettings.Extension]
  private var isRefused = false

  init(token: BearerToken, extensions: [BearerTokenSettings.Extension]) {
    self.token = token
    self.extensions = extensions
  }

  var first: [UInt8] {
    let fields = extensions.map { "\($0.key)=\($0.value)\u{1}" }.joined()
    return Array("n,,\u{1}auth=Bearer \(token.value)\u{1}\(fields)\u{1}".utf8)
  }

  /// A broker that refuses the token replies in JSON; after the client's one-byte message it sends the error.
  mutating func answer(to message: [UInt8]) throws(SASLError) -> [UInt8]? {
    if message.isEmpty && !isRefused { return nil }
    guard !isRefused else { throw .malformed("a second refusal") }
    isRefused = true
    return [1]
  }
}
