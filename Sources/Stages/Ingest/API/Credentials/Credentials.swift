import NudgeSchema
import ServiceKit
import Synchronization

/// Authenticates requests by API keys and tokens. Their files are read again when they change.
final class Credentials: Sendable {
  private struct State {
    var apiKeysFile: WatchedFile?
    var tokenKeysFile: WatchedFile?
    var apiKeys: APIKeys?
    var tokenKeys: JSONWebKeySet?
    /// Tokens that were verified with the current `tokenKeys`.
    var signed = SignedTokens()
    /// How often `tokenKeys` were read.
    var reads = 0
    /// How often `apiKeys` were read.
    var apiKeyReads = 0
  }

  /// Limits the checks of tokens without a valid signature, per network and second, and in total. A check costs some 100 µs of the thread
  /// that serves everybody. Tokens that were checked before cost nothing, and expired ones do not count, because behind a proxy all apps
  /// are one network.
  private let failures = RateLimit(perSecond: 50, burst: 200)
  private let allFailures = RateLimit(perSecond: 500)

  private let issuer: String?
  private let audience: String?
  private let logger: Logger
  private let state: Mutex<State>

  /// Reads both files. The path is nil if a file is not used.
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

  /// Reads changed files again, or with `force` all files. An unusable file is logged and the former keys stay in force, because a partly
  /// written file must not shut everybody out. A file without keys does shut everybody out.
  func reload(force: Bool) {
    state.withLock { state in
      let before = state
      do {
        try Self.readAPIKeys(&state, force: force)
        if state.apiKeysFile != before.apiKeysFile || force, let keys = state.apiKeys {
          logger.notice("API keys were read again", ["keys": .int(keys.count)])
        }
      } catch {
        logger.error("the API keys cannot be read again; those of before stay in force", ["reason": "\(error)"])
      }
      do {
        try Self.readTokenKeys(&state, force: force)
        if state.tokenKeysFile != before.tokenKeysFile || force, state.tokenKeys != nil {
          logger.notice("keys of tokens were read again")
        }
      } catch {
        logger.error("the keys of tokens cannot be read again; those of before stay in force", ["reason": "\(error)"])
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

  /// How often the token keys were read. A token that former keys accepted may no longer be valid.
  var tokenKeyReads: Int { state.withLock { $0.reads } }

  /// How often the API keys were read.
  var apiKeyReads: Int { state.withLock { $0.apiKeyReads } }

  /// The caller, by the request's `Authorization` header.
  func caller(
    authorization: String?, from network: String = "", now: Int64, steadily: Milliseconds = 0
  ) throws(Unauthorized) -> Caller {
    try session(authorization: authorization, from: network, now: now, steadily: steadily).caller
  }

  /// The caller with the expiry of its credentials, from the request's `Authorization` header.
  /// - Parameters:
  ///   - network: Where the request came from.
  ///   - now: Seconds since the epoch.
  ///   - steadily: Milliseconds of a clock that is never set.
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
    guard let tokenKeys, presented.contains(".") else { throw Unauthorized(message: "the API key is none of ours") }
    let digest = SHA256Digest.of(Array(presented.utf8))
    if let known = state.withLock({ $0.signed.verdict(on: digest, now: now) }) {
      return CallerSession(caller: try known.verdict.get(), expiresAt: known.until)
    }
    if let seconds = failures.secondsToWait(network, now: steadily) ?? allFailures.secondsToWait("", now: steadily) {
      throw Unauthorized(
        message: "too many tokens without a valid signature came from your network: send it again in \(seconds) s",
        comeBackAfter: seconds)
    }
    let (verdict, until) = verify(presented, tokenKeys, from: network, now: now, steadily: steadily)
    // Not if the keys changed meanwhile.
    if let until { state.withLock { if $0.reads == reads { $0.signed.add(digest, verdict, until: until) } } }
    return CallerSession(caller: try verdict.get(), expiresAt: until)
  }

  /// Verifies a token. Returns how long the verdict may be kept; nil if the signature is not valid.
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
      // Refused before the signature was checked.
      case .malformed, .algorithmRefused, .criticalExtension, .unknownKey, .invalidKey: return (verdict, nil)
      }
    }
    return (verdict, until)
  }
}

/// Tokens with valid signatures: the callers of accepted tokens until they expire, and for a while why other tokens are refused. Only
/// digests are kept.
struct SignedTokens {
  struct Known {
    let verdict: Result<Caller, Unauthorized>
    let until: Int64
  }

  /// When there are more, all are dropped, and each costs another verification.
  static let limit = 20_000
  /// How long a refusal is kept, for example of a token that becomes valid later.
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
