import ServiceKit

/// What the HTTP API of ingest can be told.
enum APISettings {
  /// Where it listens.
  static let address = Setting<String>(
    "http-address", default: "127.0.0.1:0", placeholder: "HOST:PORT",
    help: "Where POST /v1/events is, once there are keys; port 0 chooses one and logs it. TLS is a proxy's.")

  /// Backends' keys.
  static let apiKeysFile = Setting<String?>(
    "api-keys-file", default: nil, placeholder: "FILE",
    help: "API keys of backends: a line each, NAME KEY, the key of 32 characters or more. Read again when it changes.")

  /// What apps' tokens are verified with.
  static let tokenKeysFile = Setting<String?>(
    "jwt-keys-file", default: nil, placeholder: "FILE",
    help: "Keys of users' tokens (JWT): a JWK Set or a public key in PEM, RS256 or ES256. Read again when it changes.")

  /// Who must have made a token.
  static let tokenIssuer = Setting<String?>(
    "jwt-issuer", default: nil, placeholder: "TEXT", help: "What iss of a token must be. Without it, any.")

  /// Whom a token must be for.
  static let tokenAudience = Setting<String?>(
    "jwt-audience", default: nil, placeholder: "TEXT", help: "What aud of a token must contain. Without it, any.")

  /// How much one caller may send.
  static let rate = Setting<Int>(
    "http-rate", default: 100_000, in: 1...10_000_000,
    help: "Events a second that one API key, or one user with a token, may send to this instance.")

  /// All of them, in the order of the help.
  static let all: [any AnySetting] = [address, apiKeysFile, tokenKeysFile, tokenIssuer, tokenAudience, rate]

  /// Whether the API is to be there. Nobody could use one without keys, and one that is wanted must not be missing silently.
  /// - Throws: `SettingsError` where the settings contradict each other.
  static func isWanted(_ values: SettingsValues) throws(SettingsError) -> Bool {
    if values[apiKeysFile] != nil || values[tokenKeysFile] != nil {
      if values[tokenKeysFile] == nil { try requireNoTokenRules(values) }
      return true
    }
    try requireNoTokenRules(values)
    guard values.source(of: address) == .standard else {
      throw SettingsError(
        "--http-address is given but nobody could use the API: give --api-keys-file (NUDGE_API_KEYS_FILE), "
          + "--jwt-keys-file (NUDGE_JWT_KEYS_FILE) or both, or leave --http-address out")
    }
    return false
  }

  private static func requireNoTokenRules(_ values: SettingsValues) throws(SettingsError) {
    guard values[tokenIssuer] == nil, values[tokenAudience] == nil else {
      throw SettingsError(
        "--jwt-issuer and --jwt-audience mean nothing without keys: give --jwt-keys-file (NUDGE_JWT_KEYS_FILE)")
    }
  }
}
