import Foundation
import ServiceKit

/// The settings of ingest's HTTP API.
enum APISettings {
  static let address = Setting<String>(
    "http-address", default: "127.0.0.1:0", placeholder: "HOST:PORT",
    help:
      "Address of the HTTP API, which is on once keys are given. Port 0 chooses a port and logs it. Put a "
      + "proxy in front for TLS."
  )

  static let alone = Setting<Bool>(
    "http-only", default: false,
    help:
      "Serve only the HTTP API and take no partitions, so that the API has replicas of its own. Instances "
      + "of ingest without this flag process the events."
  )

  static let apiKeysFile = Setting<String?>(
    "api-keys-file", default: nil, placeholder: "FILE",
    help:
      "API keys of backends, one a line: NAME KEY. A key has 32 characters or more. Read again when it "
      + "changes.")

  static let tokenKeysFile = Setting<String?>(
    "jwt-keys-file", default: nil, placeholder: "FILE",
    help: "Keys of users' tokens (JWT): a JWK Set or a public key in PEM, RS256 or ES256. Read again when it changes. "
      + "Needs --jwt-issuer and --jwt-audience.")

  static let tokenIssuer = Setting<String?>(
    "jwt-issuer", default: nil, placeholder: "TEXT", help: "The iss that a user's token must have.")

  static let tokenAudience = Setting<String?>(
    "jwt-audience", default: nil, placeholder: "TEXT", help: "The audience that a user's token must name in aud.")

  static let anyAudience = Setting<Bool>(
    "jwt-any-audience", default: false,
    help:
      "Accept users' tokens for any audience and, without --jwt-issuer, of any issuer. Only where nobody else has tokens "
      + "signed with the same keys.")

  static let rate = Setting<Int>(
    "http-rate", default: 100_000, in: 1...10_000_000,
    help: "Events a second that one API key may send to this instance.")

  static let userRate = Setting<Int>(
    "http-user-rate", default: 5, in: 1...1_000_000,
    help:
      "Events a second that one user may send to this instance with a token of their own, with bursts of ten times as many."
  )

  static let bytes = Setting<Int>(
    "http-bytes", default: 32, in: 1...65_536, placeholder: "MIB",
    help: "MiB of request bodies a second that one API key may send to this instance.")

  static let userBytes = Setting<Int>(
    "http-user-bytes", default: 8, in: 1...1_048_576, placeholder: "KIB",
    help:
      "KiB of request bodies a second that one user may send to this instance, with bursts of 32 times as much. One event has 64 KiB at most."
  )

  static let bodyBudget = Setting<Int>(
    "http-body-budget", default: 64, in: 1...65_536, placeholder: "MIB",
    help:
      "MiB of request bodies that are being read or handled. Further requests get 503 before their body is "
      + "read.")

  static let connectionsPerAddress = Setting<Int>(
    "http-connections-per-address", default: 1_024, in: 1...2_048,
    help: "Connections of one client address (IPv6: one /64); further ones get 429. A proxy in front is one address.")

  static let corsOrigins = Setting<[String]>(
    "http-cors-origins", default: [], placeholder: "ORIGIN,…",
    help: "Origins whose pages may call the API from a browser, such as https://chat.example.",
    check: {
      $0.allSatisfy(isOrigin)
        ? nil : "origins as browsers send them, such as https://chat.example or http://localhost:5173"
    })

  static let liveStreams = Setting<Int>(
    "live-streams", default: 20_000, in: 0...200_000,
    help:
      "Streams of GET /v1/live that may be open; further ones get 503. 0 turns streams off, and "
      + "nudge.banners is read only for GET /v1/me and /v1/users/{id}."
  )

  static let liveUserStreams = Setting<Int>(
    "live-user-streams", default: 16, in: 1...1_000,
    help: "Streams of GET /v1/live that one user may have open at this instance; further ones get 429.")

  static let liveMemory = Setting<Int>(
    "live-memory", default: 64, in: 1...65_536, placeholder: "MIB",
    help:
      "MiB of nudge.banners that are kept for streams that continue, and as many again that may wait for "
      + "slow clients.")

  /// Whether the text has only scheme, host and port.
  private static func isOrigin(_ text: String) -> Bool {
    guard let url = URL(string: text), url.scheme == "https" || url.scheme == "http", let host = url.host, !host.isEmpty
    else { return false }
    return text == "\(url.scheme ?? "")://\(host)\(url.port.map { ":\($0)" } ?? "")"
  }

  /// All settings, in the order of the help.
  static let all: [any AnySetting] = [
    address, alone, apiKeysFile, tokenKeysFile, tokenIssuer, tokenAudience, anyAudience, rate, bytes, userRate,
    userBytes,
    bodyBudget, connectionsPerAddress, corsOrigins, liveStreams, liveUserStreams, liveMemory,
  ]

  /// Whether live streams are on. They need users' tokens.
  static func hasStreams(_ values: SettingsValues) -> Bool { values[tokenKeysFile] != nil && values[liveStreams] > 0 }

  /// Whether the API is on. Without keys nobody could use it.
  /// - Throws: `SettingsError` if settings contradict each other, or if tokens of other applications would be accepted.
  static func isWanted(_ values: SettingsValues) throws(SettingsError) -> Bool {
    if values[tokenKeysFile] != nil { try requireTokenRules(values) } else { try requireNoTokenRules(values) }
    if values[apiKeysFile] != nil || values[tokenKeysFile] != nil { return true }
    guard !values[alone] else {
      throw SettingsError(
        "--http-only without keys leaves nothing to do: give --api-keys-file (NUDGE_API_KEYS_FILE), --jwt-keys-file (NUDGE_JWT_KEYS_FILE) "
          + "or both")
    }
    guard values.source(of: address) == .standard else {
      throw SettingsError(
        "--http-address is given but nobody could use the API: give --api-keys-file (NUDGE_API_KEYS_FILE), "
          + "--jwt-keys-file (NUDGE_JWT_KEYS_FILE) or both, or leave --http-address out")
    }
    return false
  }

  /// Requires an issuer and an audience, unless `--jwt-any-audience` is given. The customers of an identity provider often share its keys,
  /// so without these two any other customer could create tokens for our users.
  private static func requireTokenRules(_ values: SettingsValues) throws(SettingsError) {
    if values[anyAudience] {
      guard values[tokenAudience] == nil else {
        throw SettingsError("--jwt-any-audience and --jwt-audience contradict each other: leave one out")
      }
      return
    }
    let missing = [
      values[tokenIssuer] == nil ? "--jwt-issuer (NUDGE_JWT_ISSUER)" : nil,
      values[tokenAudience] == nil ? "--jwt-audience (NUDGE_JWT_AUDIENCE)" : nil,
    ].compactMap { $0 }
    guard missing.isEmpty else {
      throw SettingsError(
        "--jwt-keys-file needs \(missing.joined(separator: " and ")): without them, a token made for another application with the same "
          + "keys is accepted. If that is what you want, say --jwt-any-audience (NUDGE_JWT_ANY_AUDIENCE=true)")
    }
  }

  private static func requireNoTokenRules(_ values: SettingsValues) throws(SettingsError) {
    guard values[tokenIssuer] == nil, values[tokenAudience] == nil, !values[anyAudience] else {
      throw SettingsError(
        "--jwt-issuer, --jwt-audience and --jwt-any-audience need keys: give --jwt-keys-file (NUDGE_JWT_KEYS_FILE)")
    }
  }
}
