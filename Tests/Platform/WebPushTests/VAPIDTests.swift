import Foundation
import ServiceKit
import TestSupport
import Testing

@testable import WebPush

@Suite("VAPID")
struct VAPIDTests {
  private let now: Int64 = 1_700_000_000

  @Test("issue 57: a token names the service, ends within 24 hours, and is accepted by py-vapid")
  func token() throws {
    var tokens = VAPIDTokens(subject: "mailto:push@example.org")
    var lines: [String] = []
    for number in 0..<20 {
      let key = try VAPIDKey(pem: try VAPIDKey.makePEM())
      let header = try tokens.authorization(for: "https://push\(number).example.org:8443", by: key, now: now)
      lines.append(header)
      let token = try #require(header.firstMatch(of: /^vapid t=([^,]+),k=([A-Za-z0-9_-]{87})$/))
      #expect(token.2 == key.publicKey)
      let parts = token.1.split(separator: ".")
      let claims = try #require(Base64URL.decode(parts[1]))
      #expect(
        String(decoding: claims, as: UTF8.self)
          == #"{"aud":"https://push\#(number).example.org:8443","exp":\#(now + 12 * 3_600),"sub":"mailto:push@example.org"}"#
      )
      #expect(
        try String(decoding: #require(Base64URL.decode(parts[0])), as: UTF8.self) == #"{"alg":"ES256","typ":"JWT"}"#)
    }
    guard PythonJudge.isInstalled else {
      print("SKIPPED token: \(PythonJudge.missing)")
      return
    }
    let script = """
      import sys
      from py_vapid import Vapid02
      for line in open(sys.argv[1]):
          line = line.strip()
          print(Vapid02.verify(line))
          try:
              print(Vapid02.verify(line.replace('.ey', '.ez')))
          except Exception:
              print(False)
      """
    let (status, lines2) = try PythonJudge.run(script, lines.joined(separator: "\n"))
    #expect(status == 0 && lines2.filter { !$0.isEmpty } == lines.flatMap { _ in ["True", "False"] })
  }

  @Test("issue 57: a token serves many pushes, and is made again before it ends, or when the clock goes back")
  func cache() throws {
    let (one, other) = (try VAPIDKey(pem: try VAPIDKey.makePEM()), try VAPIDKey(pem: try VAPIDKey.makePEM()))
    var tokens = VAPIDTokens(subject: "https://example.org")
    let origin = "https://push.example.org"
    let first = try tokens.authorization(for: origin, by: one, now: now)
    // Signatures are random: the same header is the same token.
    #expect(try tokens.authorization(for: origin, by: one, now: now + 9 * 3_600) == first)
    #expect(try tokens.authorization(for: origin, by: other, now: now) != first)
    #expect(try tokens.authorization(for: origin + ":8443", by: one, now: now) != first)
    let second = try tokens.authorization(for: origin, by: one, now: now + 10 * 3_600)
    #expect(second != first)
    #expect(try tokens.authorization(for: origin, by: one, now: now - 3_600) != second)
    let third = try tokens.authorization(for: origin, by: one, now: now)
    tokens.forget(origin)
    #expect(try tokens.authorization(for: origin, by: one, now: now) != third)
    for number in 0...VAPIDTokens.capacity {
      _ = try tokens.authorization(for: "https://h\(number).org", by: one, now: now + Int64(number))
    }
    let last = try tokens.authorization(for: "https://h\(VAPIDTokens.capacity).org", by: one, now: now)
    #expect(try tokens.authorization(for: "https://h\(VAPIDTokens.capacity).org", by: one, now: now) == last)
  }

  @Test("issue 57: a key file has one key, or two while keys change; anything else is refused without a word of it")
  func files() throws {
    let (one, other) = (try VAPIDKey.makePEM(), try VAPIDKey.makePEM())
    #expect(one.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    #expect(try VAPIDKey.keys(inFile: one).count == 1)
    let both = try VAPIDKey.keys(inFile: "# new\n\(one)\n# old\n\(other)\n")
    #expect(both.map(\.publicKey) == [try VAPIDKey(pem: one).publicKey, try VAPIDKey(pem: other).publicKey])
    // As `openssl ecparam -name prime256v1 -genkey -noout` writes it.
    let plain = """
      -----BEGIN EC PRIVATE KEY-----
      MHcCAQEEIHJ5yVBfOoUmZ8q0YVnVeSoZwbQOPSTGMkHiVnJmo2L6oAoGCCqGSM49
      AwEHoUQDQgAE
      -----END EC PRIVATE KEY-----
      """
    for bad in ["", "no key", one + one, one + "more", one.replacing("A", with: "B"), plain, try rsaKey()] {
      let error = #expect(throws: VAPIDKey.Invalid.self) { try VAPIDKey.keys(inFile: bad) }
      #expect(error.map { !$0.description.contains("MIG") && !$0.description.isEmpty } ?? false)
    }
  }

  @Test("issue 57: a subject is a mail address or a page")
  func subjects() {
    for good in ["mailto:a@example.org", "https://example.org/contact"] { #expect(VAPIDTokens.isSubject(good)) }
    for bad in [
      "", "a@example.org", "mailto:", "mailto:nobody", "http://example.org", "https://", "mailto:a@b\r\nX: y",
      "https://a\"b",
    ] {
      #expect(!VAPIDTokens.isSubject(bad), "\(bad)")
    }
  }

  private func rsaKey() throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.arguments = ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: bytes, as: UTF8.self)
  }
}
