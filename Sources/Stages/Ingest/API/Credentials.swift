import HTTPServer
import NudgeSchema
import ServiceKit
import Synchronization

/// Authenticates requests by API keys and tokens. Reads the files with keys again when they change.
final class Credentials: Sendable {
  private struct State {
    var apiKeysFile: WatchedFile?
    var tokenKeysFile: WatchedFile?
    var apiKeys: APIKeys?
    var tokenKeys: JSONWebKeySet?
    /// Tokens that were verified with the current `tokenKeys`.
    var signed = SignedTokens()
    /// How many times `tokenKeys` were read.
    var reads = 0
    /// How many times `apiKeys` were read.
    var apiKeyReads = 0
  }

  /// Limits the checks of tokens whose signature is invalid, by network and in total. A check takes about 100 µs of the thread that serves
  /// all requests. Expired tokens do not count, because behind a proxy all apps share one network.
  private let failures = RateLimit(perSecond: 50, burst: 200)
  private let allFailures = RateLimit(perSecond: 500)

  private let issuer: String?
  private let audience: String?
  private let logger: Logger
  private let state: Mutex<State>

  /// Reads both files. A path is nil if there is no such file.
  /// - Throws: `SettingsError`, which names the setting, the error in its file, and the fix.
  init(
    apiKeysFile: String?, tokenKeysFile: String?, issuer: String?, audience: String?, logger: Logger
  ) throws(SettingsError) {
    self.issuer = issuer
    self.audience = audience
    self.logger = logger
    var state = State(
      apiKeysFile: apiKeysFile.map { WatchedFile(path: $0) },
      tokenKeysFile: tokenKeysFile.map { WatchedFile(path: $0) })
    do {
      try Self.readAPIKeys(&state, force: true)
    } catch {
      throw SettingsError("--api-keys-file \(apiKeysFile ?? ""): \(error)")
    }
    do {
      try Self.readTokenKeys(&state, force: true)
    } catch {
      throw SettingsError("--jwt-keys-file \(tokenKeysFile ?? ""): \(error)")
    }
    if let keys = state.apiKeys, keys.count == 0, tokenKeysFile == nil {
      throw SettingsError("--api-keys-file \(apiKeysFile ?? ""): there is no key in it; add a line: NAME KEY")
    }
    self.state = Mutex(state)
  }

  private static func readAPIKeys(_ state: inout State, force: Bool) throws {
    guard let contents = try state.apiKeysFile?.changed(force: force) else { return }
    state.apiKeys = try APIKeys(contents: contents)
    state.apiKeyReads += 1
  }

  private static func readTokenKeys(_ state: inout State, force: Bool) throws {
    guard let contents = try state.tokenKeysFile?.changed(force: force) else { return }
    state.tokenKeys = try JSONWebKeySet(contents: contents)
    state.signed = SignedTokens()
    state.reads += 1
  }

  /// Reads changed files again, or all files with `force`. If a file is unusable, the error is logged and the former keys stay in force,
  /// because a partly written file must not lock everybody out. A valid file without keys does lock everybody out.
  func reload(force: Bool) {
    state.withLock { state in
      let before = state
      do {
        try Self.readAPIKeys(&state, force: force)
        if state.apiKeysFile != before.apiKeysFile || force, let keys = state.apiKeys {
          logger.notice("API keys were read again", ["keys": .int(keys.count)])
        }
      } catch {
        logger.error("the API keys cannot be read again; the former keys stay in force", ["reason": "\(error)"])
      }
      do {
        try Self.readTokenKeys(&state, force: force)
        if state.tokenKeysFile != before.tokenKeysFile || force, state.tokenKeys != nil {
          logger.notice("keys of tokens were read again")
        }
      } catch {
        logger.error("the keys of tokens cannot be read again; the former keys stay in force", ["reason": "\(error)"])
      }
    }
  }

  /// The line that `--check` prints.
  var summary: String {
    state.withLock { state in
      let keys = state.apiKeys.map { "\($0.count) API keys" }
      let tokens = state.tokenKeys.map { _ in
        "tokens of \(issuer ?? "any issuer") for \(audience ?? "any audience")"
      }
      return [keys, tokens].compactMap { $0 }.joined(separator: ", ")
    }
  }

  /// How many times the token keys were read. If it has risen, a token that was accepted before may no longer be valid.
  var tokenKeyReads: Int { state.withLock { $0.reads } }

  /// How many times the API keys were read.
  var apiKeyReads: Int { state.withLock { $0.apiKeyReads } }

  /// The caller with the expiry of its credentials, from the request's `Authorization` header.
  /// - Parameters:
  ///   - network: The client's network, for the limit of failed checks.
  ///   - now: Seconds since the epoch.
  ///   - steadily: Milliseconds of a monotonic clock.
  func session(
    authorization: String?, from network: String = "", now: Int64, steadily: Milliseconds = 0
  ) throws(Unauthorized) -> CallerSession {
    guard let authorization else {
      throw Unauthorized(message: "send Authorization: Bearer, with an API key or a token")
    }
    let parts = authorization.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else {
      throw Unauthorized(message: "the Authorization header must be Bearer, a blank, and an API key or a token")
    }
    let presented = parts[1].drop { $0 == " " }
    let (apiKeys, tokenKeys, reads) = state.withLock { ($0.apiKeys, $0.tokenKeys, $0.reads) }
    if let name = apiKeys?.name(of: presented) { return CallerSession(caller: .backend(name: name), expiresAt: nil) }
    guard let tokenKeys, presented.contains(".") else { throw Unauthorized(message: "the API key is unknown") }
    let digest = SHA256Digest.of(Array(presented.utf8))
    if let known = state.withLock({ $0.signed.verdict(on: digest, now: now) }) {
      return CallerSession(caller: try known.verdict.get(), expiresAt: known.until)
    }
    let here = failures.secondsToWait(network, now: steadily)
    if let seconds = here ?? allFailures.secondsToWait("", now: steadily) {
      throw Unauthorized(
        message: "too many tokens without a valid signature came\(here == nil ? "" : " from your network"): "
          + "send it again in \(seconds) s",
        comeBackAfter: seconds)
    }
    let (verdict, until) = verify(presented, tokenKeys, from: network, now: now, steadily: steadily)
    // If the keys were read again meanwhile, the verdict may be stale and is not stored.
    if let until { state.withLock { if $0.reads == reads { $0.signed.add(digest, verdict, until: until) } } }
    return CallerSession(caller: try verdict.get(), expiresAt: until)
  }

  /// Verifies a token. `until` is how long the verdict may be stored, in seconds since the epoch; nil if no valid signature was found.
  private func verify(
    _ token: Substring, _ keys: JSONWebKeySet, from network: String, now: Int64, steadily: Milliseconds
  ) -> (Result<Caller, Unauthorized>, until: Int64?) {
    var verdict = Result<Caller, Unauthorized>.failure(
      Unauthorized(message: "the token has no sub: it must name the user"))
    var until = now + SignedTokens.refusalSeconds
    do throws(JSONWebTokenError) {
      let claims = try JSONWebToken.verify(String(token), keys: keys, issuer: issuer, audience: audience, now: now)
      if let subject = claims.subject, !subject.isEmpty {
        verdict = .success(.user(id: subject))
        until = claims.expiresAt ?? until
      }
    } catch {
      verdict = .failure(Unauthorized(message: error.description))
      switch error {
      case .invalidSignature, .cryptography:
        failures.take(1, of: network, now: steadily)
        allFailures.take(1, of: "", now: steadily)
        return (verdict, nil)
      case .expired, .notYetValid, .noExpiry, .wrongIssuer, .wrongAudience: break
      // The token is refused before its signature is checked.
      case .malformed, .algorithmRefused, .criticalExtension, .unknownKey, .invalidKey: return (verdict, nil)
      }
    }
    return (verdict, until)
  }
}

/// The verdicts on tokens with valid signatures: an accepted token's until the token expires, a refused token's for some seconds. Only
/// digests of tokens are kept.
struct SignedTokens {
  struct Known {
    let verdict: Result<Caller, Unauthorized>
    let until: Int64
  }

  /// The most verdicts. If there would be more, all are dropped, and each token is verified once more.
  static let limit = 20_000
  /// How long a refusal is kept. It is short because a token may become valid later.
  static let refusalSeconds: Int64 = 10

  private var known: [[UInt8]: Known] = [:]

  /// The stored verdict on a token; nil if it must be verified.
  func verdict(on digest: [UInt8], now: Int64) -> Known? {
    known[digest].flatMap { now < $0.until ? $0 : nil }
  }

  mutating func add(_ digest: [UInt8], _ verdict: Result<Caller, Unauthorized>, until: Int64) {
    if known.count >= Self.limit { known = [:] }
    known[digest] = Known(verdict: verdict, until: until)
  }
}

/// The API keys of a file. Each line has a name, blanks and the key; `#` begins a comment line. Two lines may have the same name.
///
/// Only digests are kept. A presented key's digest is compared with every digest in constant time, so timing reveals nothing.
struct APIKeys: Sendable {
  /// The shortest key in characters: 32 characters of base64 are 192 bits.
  static let shortest = 32
  /// The most keys with the same name. While a key is replaced, a backend has the old and the new one.
  static let keysOfAName = 2

  private let keys: [(name: String, digest: [UInt8])]

  /// Reads a file's content. No error quotes the file: if name and key were swapped, the name would be the secret.
  /// - Throws: `SettingsError`, which names the line and the fix.
  init(contents: [UInt8]) throws(SettingsError) {
    guard let text = String(validating: contents, as: UTF8.self) else { throw SettingsError("the file is not UTF-8") }
    var keys: [(line: Int, name: String, digest: [UInt8])] = []
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      let words = line.split { $0 == " " || $0 == "\t" }
      guard let name = words.first, !name.hasPrefix("#") else { continue }
      guard words.count == 2 else {
        throw SettingsError("line \(index + 1): use NAME KEY, with blanks between and none within")
      }
      guard !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
        throw SettingsError("line \(index + 1): the name has control characters; logs and metrics show it")
      }
      guard words[1].unicodeScalars.count >= Self.shortest else {
        throw SettingsError(
          "line \(index + 1): the key is too short; use NAME KEY with \(Self.shortest) characters or more for the key, such as "
            + "those of: openssl rand -base64 32")
      }
      guard words[1].utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
        throw SettingsError("line \(index + 1): the key has characters that no HTTP header carries; use ASCII")
      }
      let digest = Self.digest(words[1])
      if let other = keys.first(where: { $0.digest == digest }) {
        throw SettingsError("line \(index + 1): line \(other.line) has the same key; give each key a line")
      }
      let named = keys.filter { sameId($0.name, String(name)) }
      if named.count >= Self.keysOfAName {
        throw SettingsError(
          "line \(index + 1): line \(named[0].line) and others have the same name; a name has \(Self.keysOfAName) keys at most, the old and the "
            + "new one while it changes")
      }
      keys.append((index + 1, String(name), digest))
    }
    self.keys = keys.map { ($0.name, $0.digest) }
  }

  /// The number of keys.
  var count: Int { keys.count }

  /// The name of a presented key; nil for an unknown key.
  func name(of presented: Substring) -> String? {
    let digest = Self.digest(presented)
    var found: String?
    for key in keys where Self.isSame(key.digest, digest) { found = key.name }
    return found
  }

  private static func digest(_ key: Substring) -> [UInt8] { SHA256Digest.of(Array(key.utf8)) }

  private static func isSame(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    var difference: UInt8 = a.count == b.count ? 0 : 1
    for (a, b) in zip(a, b) { difference |= a ^ b }
    return difference == 0
  }
}

/// The sender of a request.
enum Caller: Sendable, Equatable {
  /// A backend, by the name of its API key. It may publish for everybody.
  case backend(name: String)
  /// An app, by the user of its token. It may publish only for that user (M10).
  case user(id: String)

  /// Whether the request came with a user's own token.
  var isUser: Bool { if case .user = self { true } else { false } }
}

/// A caller with the expiry of its credentials.
struct CallerSession: Sendable {
  let caller: Caller
  /// When a user's token expires, in seconds since the epoch; nil for an API key.
  let expiresAt: Int64?
}

/// Why a request's credentials are refused.
struct Unauthorized: Error, Equatable {
  /// The message for the caller.
  let message: String
  /// The seconds to wait before the credentials can be checked; nil if they were checked.
  var comeBackAfter: Int?
}

/// Checks the sender of a request before the body is read.
enum CallerAdmission {
  /// The caller as a `Caller`, or the refusal because of its credentials or its rate.
  static func admit(
    _ head: HTTPServerRequestHead, _ credentials: Credentials, _ rates: CallerRates
  ) -> HTTPAdmission {
    let admission = admitSession(head, credentials, rates)
    guard case .admitted(let session as CallerSession) = admission else { return admission }
    return .admitted(session.caller)
  }

  /// The caller as a `CallerSession`, or the refusal.
  static func admitSession(
    _ head: HTTPServerRequestHead, _ credentials: Credentials, _ rates: CallerRates
  ) -> HTTPAdmission {
    let session: CallerSession
    let now = SystemClock.steadyMilliseconds()
    do throws(Unauthorized) {
      session = try credentials.session(
        authorization: head.headers["Authorization"], from: head.remoteNetwork,
        now: SystemClock.milliseconds() / 1_000, steadily: now)
    } catch {
      if let seconds = error.comeBackAfter {
        return .refused(.error(429, code: "rate_limited", message: error.message, retryAfter: seconds))
      }
      var response = HTTPServerResponse.error(401, code: "unauthorized", message: error.message)
      response.headers.append(("WWW-Authenticate", "Bearer"))
      return .refused(response)
    }
    if let refusal = rates.refusal(of: session.caller, bytes: head.bodyLength, now: now) {
      return .refused(tooMany(refusal))
    }
    return .admitted(session)
  }

  /// The queue of a request. Each API key and each user has a queue of its own.
  static func turn(_ request: HTTPServerRequest) -> String { (request.admitted as? Caller).map(name) ?? "" }

  /// A name that no other caller has.
  static func name(of caller: Caller) -> String {
    switch caller {
    case .backend(let name): "b" + name
    case .user(let id): "u" + id
    }
  }

  /// The answer to a caller above their rate.
  static func tooMany(_ refusal: CallerRates.Refusal) -> HTTPServerResponse {
    let answer = refusal.answer(refusal.isOfBytes ? "bytes" : "events")
    return .error(429, code: "rate_limited", message: answer.message, retryAfter: answer.seconds)
  }
}

extension HTTPRoute {
  /// A route for callers with credentials and within their rate. The requests of a caller run one after the other.
  init(
    _ method: HTTPMethod, _ path: String, query: [QueryParameter] = [], bodyLimit: Int? = nil,
    contentTypes: [String] = [], for credentials: Credentials, within rates: CallerRates,
    _ handler: @escaping @Sendable (Caller, HTTPServerRequest, HTTPResponder) -> Void
  ) {
    self.init(
      method, path, query: query.names, bodyLimit: bodyLimit, contentTypes: contentTypes,
      admit: { CallerAdmission.admit($0, credentials, rates) }, inTurnOf: CallerAdmission.turn
    ) { request, responder in
      guard let caller = request.admitted as? Caller else { return }  // the server answers 500
      handler(caller, request, responder)
    }
  }
}
