import COpenSSL
import Foundation
import TestSupport
import Testing

@testable import ServiceKit

@Suite("JSON Web Tokens")
struct JSONWebTokenTests {
  private let now: Int64 = 1_950_000_000
  private let issuer = "https://accounts.example"

  private func keySet() throws -> JSONWebKeySet { try JSONWebKeySet(contents: Array(TokenVectors.keySet.utf8)) }

  private func verify(_ token: String, now: Int64? = nil, audience: String? = "nudge") throws(JSONWebTokenError)
    -> JSONWebClaims
  {
    let keys = try JSONWebKeySet(contents: Array(TokenVectors.keySet.utf8))
    return try JSONWebToken.verify(token, keys: keys, issuer: issuer, audience: audience, now: now ?? self.now)
  }

  private func part(_ json: String) -> String { Base64URL.encode(Array(json.utf8)) }

  private func signed(_ claims: JSONWebClaims) throws -> String {
    try JSONWebToken.sign(claims, key: PrivateKey(pem: TokenVectors.ecPrivate), kid: "ec-1")
  }

  @Test(
    "tokens that openssl signed are accepted, RS256 and ES256", arguments: [TokenVectors.rs256, TokenVectors.es256])
  func vectors(_ token: String) throws {
    let claims = try verify(token)
    #expect(
      claims
        == JSONWebClaims(
          issuer: issuer, subject: "u-7", audience: ["nudge", "other"], expiresAt: 2_000_000_000,
          issuedAt: 1_900_000_000))
  }

  @Test("a header that is nested deep is refused, wherever it breaks off, and the process goes on")
  func nestedHeader() {
    for depth in [1, 64, 65, 512, 513, 514, 2_000] {
      for end in ["", "\r", "]"] {
        let header = part(String(repeating: "[", count: depth) + end)
        #expect(throws: JSONWebTokenError.malformed) { try verify("\(header).\(part("{}")).AAAA") }
      }
    }
  }

  @Test("a public key in PEM does as well as a key set")
  func pem() throws {
    for (pem, token) in [(TokenVectors.rsaPublic, TokenVectors.rs256), (TokenVectors.ecPublic, TokenVectors.es256)] {
      let keys = try JSONWebKeySet(contents: Array(pem.utf8))
      #expect(try JSONWebToken.verify(token, keys: keys, issuer: nil, audience: nil, now: now).subject == "u-7")
    }
  }

  @Test("own signatures verify, many times, because ES256's halves may begin with zeros")
  func signAndVerify() throws {
    let keys = try keySet()
    for (pem, kid) in [(TokenVectors.rsaPrivate, "rsa-1"), (TokenVectors.ecPrivate, "ec-1")] {
      let key = try PrivateKey(pem: pem)
      for number in 0..<(kid == "ec-1" ? 300 : 3) {
        let claims = JSONWebClaims(subject: "u-\(number)", expiresAt: now)
        let token = try JSONWebToken.sign(claims, key: key, kid: kid)
        #expect(try JSONWebToken.verify(token, keys: keys, issuer: nil, audience: nil, now: now) == claims)
      }
    }
  }

  @Test("an RS256 signature is the one that openssl makes of the same bytes")
  func sameSignature() throws {
    let parts = TokenVectors.rs256.split(separator: ".")
    let key = try PrivateKey(pem: TokenVectors.rsaPrivate)
    let signature = try key.key.sign(Array("\(parts[0]).\(parts[1])".utf8))
    #expect(Base64URL.encode(signature) == parts[2])
  }

  @Test("alg none is refused, with and without a signature")
  func none() {
    let parts = TokenVectors.rs256.split(separator: ".")
    for algorithm in ["none", "None", ""] {
      let header = part(#"{"alg":"\#(algorithm)","kid":"rsa-1"}"#)
      #expect(throws: JSONWebTokenError.algorithmRefused) { try verify("\(header).\(parts[1]).") }
      #expect(throws: JSONWebTokenError.algorithmRefused) { try verify("\(header).\(parts[1]).\(parts[2])") }
    }
  }

  @Test("HS256 with the public key as its secret is refused, whatever form of the key is the secret")
  func confusion() throws {
    for pem in [TokenVectors.rsaPublic, TokenVectors.rsaPublic + "\n", TokenVectors.ecPublic] {
      for header in [#"{"alg":"HS256","kid":"rsa-1"}"#, #"{"alg":"HS256"}"#] {
        let message = part(header) + "." + TokenVectors.rs256.split(separator: ".")[1]
        var digest = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        let secret = Array(pem.utf8)
        HMAC(EVP_sha256(), secret, Int32(secret.count), Array(message.utf8), message.utf8.count, &digest, &length)
        #expect(length == 32)
        let token = message + "." + Base64URL.encode(digest)
        #expect(throws: JSONWebTokenError.algorithmRefused) { try verify(token) }
      }
    }
  }

  @Test("a token for one key does not pass as another's: RS256 under an EC key's id, ES256 under an RSA key's")
  func crossed() {
    for (token, kid, algorithm) in [(TokenVectors.rs256, "ec-1", "RS256"), (TokenVectors.es256, "rsa-1", "ES256")] {
      let parts = token.split(separator: ".")
      let header = part(#"{"alg":"\#(algorithm)","kid":"\#(kid)"}"#)
      #expect(throws: JSONWebTokenError.algorithmRefused) { try verify("\(header).\(parts[1]).\(parts[2])") }
    }
  }

  @Test(
    "a key id that is not configured, nor meant for signatures here, is refused",
    arguments: ["unknown", "shared", "enc"])
  func unknownKey(_ kid: String) {
    let parts = TokenVectors.rs256.split(separator: ".")
    let header = part(#"{"alg":"RS256","kid":"\#(kid)"}"#)
    #expect(throws: JSONWebTokenError.unknownKey) { try verify("\(header).\(parts[1]).\(parts[2])") }
  }

  @Test("no byte of a token can be changed", arguments: [TokenVectors.rs256, TokenVectors.es256])
  func changed(_ token: String) {
    let bytes = Array(token.utf8)
    for index in stride(from: 0, to: bytes.count, by: 3) {
      var changed = bytes
      changed[index] = bytes[index] == 65 ? 66 : 65
      #expect(throws: JSONWebTokenError.self) { try verify(String(decoding: changed, as: UTF8.self)) }
    }
  }

  @Test(
    "a token cut at any place is refused, and so is one with more to it",
    arguments: [TokenVectors.rs256, TokenVectors.es256])
  func truncated(_ token: String) {
    for length in stride(from: 0, to: token.count, by: 7) {
      #expect(throws: JSONWebTokenError.self) { try verify(String(token.prefix(length))) }
    }
    for more in ["A", "=", ".", ".e30", " "] {
      #expect(throws: JSONWebTokenError.self) { try verify(token + more) }
    }
  }

  @Test("ES256 signatures in DER, of zeros, or beyond the curve's order are refused")
  func badECDSA() throws {
    let parts = TokenVectors.es256.split(separator: ".")
    let raw = try #require(Base64URL.decode(parts[2]))
    let der = try #require(ECDSASignature.der(fromRaw: raw))
    let zeros = [UInt8](repeating: 0, count: 64)
    for signature in [der, zeros, [UInt8](repeating: 255, count: 64), [], Array(raw.dropLast()), raw + [0]] {
      #expect(throws: JSONWebTokenError.invalidSignature) {
        try verify("\(parts[0]).\(parts[1]).\(Base64URL.encode(signature))")
      }
    }
  }

  @Test("exp must be there, and counts with 60 s of leeway")
  func expiry() throws {
    let token = try signed(JSONWebClaims(issuer: issuer, audience: ["nudge"], expiresAt: now))
    #expect(throws: Never.self) { try verify(token, now: now + 59) }
    #expect(throws: JSONWebTokenError.expired) { try verify(token, now: now + 60) }
    let endless = try signed(JSONWebClaims(issuer: issuer, audience: ["nudge"]))
    #expect(throws: JSONWebTokenError.noExpiry) { try verify(endless) }
  }

  @Test("a token of the future is refused beyond 60 s")
  func notBefore() throws {
    for claims in [
      JSONWebClaims(issuer: issuer, audience: ["nudge"], expiresAt: now + 900, notBefore: now),
      JSONWebClaims(issuer: issuer, audience: ["nudge"], expiresAt: now + 900, issuedAt: now),
    ] {
      let token = try signed(claims)
      #expect(throws: Never.self) { try verify(token, now: now - 60) }
      #expect(throws: JSONWebTokenError.notYetValid) { try verify(token, now: now - 61) }
    }
  }

  @Test("issuer and audience must be those that are configured; a single audience may be a plain text")
  func issuerAndAudience() throws {
    let plain = try signed(JSONWebClaims(issuer: issuer, audience: ["nudge"], expiresAt: now))
    #expect(throws: Never.self) { try verify(plain) }
    #expect(throws: JSONWebTokenError.wrongAudience) { try verify(plain, audience: "nudg") }
    let nobody = try signed(JSONWebClaims(issuer: issuer, expiresAt: now))
    #expect(throws: JSONWebTokenError.wrongAudience) { try verify(nobody) }
    for other in [nil, "https://accounts.example/", ""] as [String?] {
      let token = try signed(JSONWebClaims(issuer: other, audience: ["nudge"], expiresAt: now))
      #expect(throws: JSONWebTokenError.wrongIssuer) { try verify(token) }
    }
  }

  @Test("only a signed token's fault is named: an expired forgery is a forgery")
  func signatureFirst() throws {
    let parts = TokenVectors.rs256.split(separator: ".")
    let forged = part(#"{"iss":"x","exp":1}"#)
    #expect(throws: JSONWebTokenError.invalidSignature) { try verify("\(parts[0]).\(forged).\(parts[2])") }
  }

  @Test("extensions that must be understood are not")
  func critical() {
    let parts = TokenVectors.rs256.split(separator: ".")
    let header = part(#"{"alg":"RS256","kid":"rsa-1","crit":["exp"]}"#)
    #expect(throws: JSONWebTokenError.criticalExtension) { try verify("\(header).\(parts[1]).\(parts[2])") }
  }

  @Test(
    "claims of the wrong type or beyond all time are refused though signed",
    arguments: [
      #"{"exp":"soon"}"#, #"{"exp":1e300}"#, #"{"exp":true}"#, #"{"aud":5,"exp":2000000000}"#, "[]", "7", "{",
    ])
  func badClaims(_ json: String) throws {
    let key = try PrivateKey(pem: TokenVectors.ecPrivate)
    let message = part(#"{"alg":"ES256"}"#) + "." + part(json)
    let token = message + "." + Base64URL.encode(try key.key.sign(Array(message.utf8)))
    #expect(throws: JSONWebTokenError.malformed) { try verify(token) }
  }

  @Test("keys that are too weak, of other kinds, encrypted or none are refused with a reason")
  func badKeys() {
    for pem in [
      TokenVectors.weakPrivate, TokenVectors.p384Private, TokenVectors.ecEncrypted, TokenVectors.rsaPublic, "", "x",
    ] {
      let error = #expect(throws: JSONWebTokenError.self) { try PrivateKey(pem: pem) }
      guard case .invalidKey? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
    for text in [
      TokenVectors.weakPublic, TokenVectors.rsaPrivate, "", "{}", #"{"keys":[]}"#,
      #"{"keys":[{"kty":"oct","k":"AA"}]}"#,
      #"{"keys":[{"kty":"RSA","n":"!!","e":"AQAB"}]}"#,
      #"{"kty":"EC","crv":"P-256","x":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","y":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#,
    ] {
      #expect(throws: JSONWebTokenError.self, "\(text)") { try JSONWebKeySet(contents: Array(text.utf8)) }
    }
  }

  @Test("base64url is strict: no padding, no other letters, no bits left over")
  func base64() {
    for bytes in [[], [0], [255, 254], [1, 2, 3], Array(0...255)] as [[UInt8]] {
      let expected = Data(bytes).base64EncodedString()
        .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
      #expect(Base64URL.encode(bytes) == expected)
      #expect(Base64URL.decode(expected) == bytes)
    }
    for text in ["A", "AA==", "AB", "AAB", "A+A=", "A/AA", "AA A", "AAAA\n", "é"] {
      #expect(Base64URL.decode(text) == nil, "\(text)")
    }
  }
}
