import OAuthBearer

/// Who the client is, and how it shows that.
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

  /// A login of one connection. Fetches a token where one is needed and none is there.
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

/// One login: messages to the broker and what it answers.
protocol SASLLogin {
  /// The first message.
  var first: [UInt8] { get }
  /// What to say to an answer; nil: the login is done.
  mutating func answer(to message: [UInt8]) throws(SASLError) -> [UInt8]?
}

/// What is wrong with a broker's part of a login.
enum SASLError: Error, Equatable, CustomStringConvertible {
  /// It does not follow the mechanism.
  case malformed(String)
  /// It does not know the password.
  case notTheServer

  var description: String {
    switch self {
    case .malformed(let what): "the broker's message is not one of this mechanism: \(what)"
    case .notTheServer: "the broker does not prove that it knows the password"
    }
  }
}

/// RFC 4616: user and password as they are. For encrypted connections.
struct PlainLogin: SASLLogin {
  let user: String
  let password: String

  var first: [UInt8] { [0] + Array(user.utf8) + [0] + Array(password.utf8) }

  mutating func answer(to message: [UInt8]) throws(SASLError) -> [UInt8]? { nil }
}

/// RFC 7628: a token as it is. For encrypted connections.
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

  /// A broker that does not take the token says so in JSON; to the one byte that follows it answers with the error.
  mutating func answer(to message: [UInt8]) throws(SASLError) -> [UInt8]? {
    if message.isEmpty && !isRefused { return nil }
    guard !isRefused else { throw .malformed("a second refusal") }
    isRefused = true
    return [1]
  }
}
