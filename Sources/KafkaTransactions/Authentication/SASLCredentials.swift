/// Who the client is, and how it shows that.
enum SASLCredentials: Equatable, Sendable {
  case plain(user: String, password: String)
  case scram(SCRAMHash, user: String, password: String)

  /// The mechanism's registered name.
  var mechanism: String {
    switch self {
    case .plain: "PLAIN"
    case .scram(.sha256, _, _): "SCRAM-SHA-256"
    case .scram(.sha512, _, _): "SCRAM-SHA-512"
    }
  }

  /// A login of one connection.
  func makeLogin() -> any SASLLogin {
    switch self {
    case .plain(let user, let password): PlainLogin(user: user, password: password)
    case .scram(let hash, let user, let password):
      SCRAMLogin(
        hash, user: user, password: password,
        nonce: Array((0..<24).map { _ in UInt8.random(in: .min ... .max) }.base64.utf8))
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
