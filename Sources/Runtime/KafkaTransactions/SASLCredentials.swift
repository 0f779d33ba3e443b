internal import COpenSSL
import Foundation
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

  /// Makes the login of one connection. OAUTHBEARER fetches a token for it, unless the current one is still good.
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
  /// The next message after a reply. Absent if the login is complete.
  mutating func answer(to message: [UInt8]) throws(SASLError) -> [UInt8]?
}

/// A login that fails because of what the broker sent. The client refuses to continue.
enum SASLError: Error, Equatable, CustomStringConvertible {
  /// The mechanism does not allow the broker's message.
  case malformed(String)
  /// The broker has not proved that it knows the password.
  case notTheServer

  var description: String {
    switch self {
    case .malformed(let fault): "the broker's message does not follow the SASL mechanism: \(fault)"
    case .notTheServer: "the broker did not prove that it knows the password"
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

  /// Ends the login after an empty reply. A broker that refuses the token replies in JSON. It sends the error only after the client's
  /// next message, which is one byte.
  mutating func answer(to message: [UInt8]) throws(SASLError) -> [UInt8]? {
    if message.isEmpty && !isRefused { return nil }
    guard !isRefused else { throw .malformed("it refuses the token twice") }
    isRefused = true
    return [1]
  }
}

/// The hash of a SCRAM mechanism.
enum SCRAMHash: Equatable, Sendable {
  case sha256
  case sha512

  fileprivate var digest: OpaquePointer? { self == .sha256 ? EVP_sha256() : EVP_sha512() }
  fileprivate var size: Int { self == .sha256 ? 32 : 64 }

  fileprivate func hash(_ bytes: [UInt8]) -> [UInt8] {
    var sum = [UInt8](repeating: 0, count: size)
    EVP_Digest(bytes, bytes.count, &sum, nil, digest, nil)
    return sum
  }

  /// RFC 2104. Keys must not be longer than a block of the hash.
  fileprivate func hmac(_ key: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
    let block = size * 2
    let key = key + [UInt8](repeating: 0, count: max(0, block - key.count))
    return hash(key.map { $0 ^ 0x5c } + hash(key.map { $0 ^ 0x36 } + bytes))
  }

  /// RFC 5802's Hi: PBKDF2 with HMAC, one block.
  fileprivate func salted(_ password: String, _ salt: [UInt8], _ iterations: Int) -> [UInt8] {
    var sum = [UInt8](repeating: 0, count: size)
    PKCS5_PBKDF2_HMAC(
      password, Int32(password.utf8.count), salt, Int32(salt.count), Int32(iterations), digest, Int32(size), &sum)
    return sum
  }
}

/// RFC 5802 without channel binding: each side proves that it knows the password without sending it.
struct SCRAMLogin: SASLLogin {
  /// With fewer iterations, an eavesdropper could guess passwords quickly; with more, a broker could keep the client busy.
  static let iterations = 4096...1_000_000

  private enum State: Equatable {
    case waitingForSalt
    case waitingForProof(serverSignature: [UInt8])
    case done
  }

  private let hash: SCRAMHash
  private let password: String
  private let nonce: String
  private let bareFirst: String
  private var state = State.waitingForSalt

  /// - Parameter nonce: Random bytes without a comma.
  init(_ hash: SCRAMHash, user: String, password: String, nonce: [UInt8]) {
    self.hash = hash
    self.password = password
    self.nonce = String(decoding: nonce, as: UTF8.self)
    let name = user.replacing("=", with: "=3D").replacing(",", with: "=2C")
    bareFirst = "n=\(name),r=\(self.nonce)"
  }

  var first: [UInt8] { Array("n,,\(bareFirst)".utf8) }

  mutating func answer(to message: [UInt8]) throws(SASLError) -> [UInt8]? {
    let text = String(decoding: message, as: UTF8.self)
    switch state {
    case .waitingForSalt: return try prove(text)
    case .waitingForProof(let signature):
      guard let value = Self.fields(text)["v"], let received = [UInt8](base64: value) else {
        throw .malformed("it has no server signature")
      }
      guard received.count == signature.count, zip(received, signature).reduce(0, { $0 | ($1.0 ^ $1.1) }) == 0 else {
        throw .notTheServer
      }
      state = .done
      return nil
    case .done: throw .malformed("it comes after the end of the login")
    }
  }

  private mutating func prove(_ serverFirst: String) throws(SASLError) -> [UInt8] {
    let fields = Self.fields(serverFirst)
    guard fields["m"] == nil else { throw .malformed("it requires an extension that this client does not know") }
    guard let serverNonce = fields["r"], serverNonce.hasPrefix(nonce), serverNonce.utf8.count > nonce.utf8.count else {
      throw .malformed("its nonce does not extend the client's")
    }
    guard let salt = fields["s"].flatMap({ [UInt8](base64: $0) }), !salt.isEmpty else {
      throw .malformed("it has no salt")
    }
    guard let iterations = fields["i"].flatMap({ Int($0) }), Self.iterations.contains(iterations) else {
      throw .malformed("its iteration count is not in \(Self.iterations)")
    }
    let salted = hash.salted(password, salt, iterations)
    let clientKey = hash.hmac(salted, Array("Client Key".utf8))
    let withoutProof = "c=biws,r=\(serverNonce)"
    let exchange = Array("\(bareFirst),\(serverFirst),\(withoutProof)".utf8)
    let clientSignature = hash.hmac(hash.hash(clientKey), exchange)
    let proof = zip(clientKey, clientSignature).map { $0 ^ $1 }
    let serverKey = hash.hmac(salted, Array("Server Key".utf8))
    state = .waitingForProof(serverSignature: hash.hmac(serverKey, exchange))
    return Array("\(withoutProof),p=\(proof.base64)".utf8)
  }

  private static func fields(_ text: String) -> [String: String] {
    var fields: [String: String] = [:]
    for part in text.split(separator: ",") {
      guard let equals = part.firstIndex(of: "=") else { continue }
      fields[String(part[..<equals])] = String(part[part.index(after: equals)...])
    }
    return fields
  }
}

extension [UInt8] {
  var base64: String { Data(self).base64EncodedString() }

  init?(base64 text: String) {
    guard let data = Data(base64Encoded: text) else { return nil }
    self = Array(data)
  }
}
