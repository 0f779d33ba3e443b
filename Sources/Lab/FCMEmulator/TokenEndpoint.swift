internal import Foundation
internal import ServiceKit

/// `POST /token`: exchanges a signed assertion for an access token, as Google's OAuth server does (RFC 7523).
struct TokenEndpoint: Sendable {
  static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
  static let scopes: Set<String> = [
    "https://www.googleapis.com/auth/firebase.messaging", "https://www.googleapis.com/auth/cloud-platform",
  ]
  /// The clock difference that an assertion's times may have, in seconds.
  static let leeway: Int64 = 60

  let account: EmulatorServiceAccount
  /// The audience that an assertion must have: this endpoint's URL.
  let audience: String

  /// The answer that refuses a request; nil if the request is valid.
  func refusal(contentType: String?, body: [UInt8], now: Date) -> EmulatorAnswer? {
    guard contentType?.lowercased().hasPrefix("application/x-www-form-urlencoded") ?? false else {
      return Self.error("invalid_request", "The content type must be application/x-www-form-urlencoded.")
    }
    let form = Self.form(body)
    guard let grant = form["grant_type"] else {
      return Self.error("invalid_request", "Required parameter is missing: grant_type")
    }
    guard grant == Self.grantType else { return Self.error("unsupported_grant_type", "Invalid grant_type: \(grant)") }
    guard let assertion = form["assertion"] else {
      return Self.error("invalid_request", "Required parameter is missing: assertion")
    }
    return refusal(assertion: assertion, now: Int64(now.timeIntervalSince1970))
  }

  private struct Header: Decodable {
    let alg: String
    let kid: String?
  }

  private struct Claims: Decodable {
    let iss: String
    let aud: String
    let scope: String?
    let iat: Int64
    let exp: Int64
  }

  private func refusal(assertion: String, now: Int64) -> EmulatorAnswer? {
    let parts = assertion.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let headerBytes = Base64URL.decode(parts[0]), let claimBytes = Base64URL.decode(parts[1]),
      let signature = Base64URL.decode(parts[2]),
      let header = try? JSONDecoder().decode(Header.self, from: Data(headerBytes)),
      let claims = try? JSONDecoder().decode(Claims.self, from: Data(claimBytes))
    else { return Self.error("invalid_grant", "Invalid JWT: it cannot be read, or lacks iss, aud, iat or exp.") }
    guard header.alg == "RS256" else { return Self.error("invalid_grant", "Invalid JWT: the algorithm must be RS256.") }
    guard claims.iss == account.email else {
      return Self.error("invalid_grant", "Invalid grant: account not found")
    }
    guard header.kid.map({ $0 == account.keyID }) ?? true,
      account.key.verifies(Array("\(parts[0]).\(parts[1])".utf8), signature: signature)
    else { return Self.error("invalid_grant", "Invalid JWT Signature.") }
    guard claims.aud == audience else {
      return Self.error("invalid_grant", "Invalid JWT: the audience must be \(audience).")
    }
    guard claims.iat <= now + Self.leeway, claims.exp > now - Self.leeway, claims.exp > claims.iat,
      claims.exp <= claims.iat + 3_600
    else {
      return Self.error(
        "invalid_grant",
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp "
          + "values in the JWT claim.")
    }
    let scopes = (claims.scope ?? "").split(separator: " ").map(String.init)
    guard scopes.contains(where: Self.scopes.contains) else {
      return Self.error("invalid_scope", "Invalid OAuth scope or ID token audience provided.")
    }
    return nil
  }

  private static func error(_ code: String, _ description: String) -> EmulatorAnswer {
    EmulatorAnswer(
      status: 400, body: "{\"error\":\(quoted(code)),\"error_description\":\(quoted(description))}")
  }

  private static func form(_ body: [UInt8]) -> [String: String] {
    var fields: [String: String] = [:]
    for pair in String(decoding: body, as: UTF8.self).split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
        $0.replacing("+", with: " ").removingPercentEncoding ?? ""
      }
      if parts.count == 2 { fields[parts[0]] = parts[1] }
    }
    return fields
  }
}
