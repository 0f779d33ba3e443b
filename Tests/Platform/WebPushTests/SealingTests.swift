import Foundation
import ServiceKit
import TestSupport
import Testing

@testable import WebPush

@Suite("Web Push sealing")
struct SealingTests {
  private func bytes(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(text)) }

  @Test("issue 57: the example of RFC 8291 comes out byte for byte")
  func example() throws {
    let fresh = WebPushSealing.Fresh(
      privateKey: try bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"), salt: try bytes("DGv6ra1nlYgDCS1FRnbzlw"))
    let keys = try WebPushKeys(
      p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
      auth: "BTBZMqHH6r4Tts7J_aSIgg")
    let sealed = try WebPushSealing.seal(Array("When I grow up, I want to be a watermelon".utf8), for: keys, fresh)
    #expect(
      Base64URL.encode(sealed)
        == "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A"
        + "_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
  }

  /// `NUDGE_SEALED_MESSAGES=100000` takes two minutes.
  private static let messages: Int = runParameter("NUDGE_SEALED_MESSAGES") ?? 3_000
  /// Messages that http-ece opens at a time.
  private static let batch = 5_000

  @Test("issue 57: thousands of random messages, of every length that fits, are opened by http-ece")
  func openedByOthers() throws {
    guard PythonJudge.isInstalled else {
      print("SKIPPED openedByOthers: \(PythonJudge.missing)")
      return
    }
    var random = SeededGenerator(announcedFor: "sealed messages")
    let receivers = try (0..<40).map { _ in
      let key = try P256.randomScalar()
      let auth = (0..<16).map { _ in UInt8(random.below(256)) }
      let keys = try WebPushKeys(p256dh: Base64URL.encode(try P256.publicKey(of: key)), auth: Base64URL.encode(auth))
      return (key: key, auth: auth, keys: keys)
    }
    for first in stride(from: 0, to: Self.messages, by: Self.batch) {
      try open(first..<min(first + Self.batch, Self.messages), receivers, &random)
    }
  }

  private typealias Receiver = (key: [UInt8], auth: [UInt8], keys: WebPushKeys)

  private func open(_ numbers: Range<Int>, _ receivers: [Receiver], _ random: inout SeededGenerator) throws {
    var messages: [[UInt8]] = []
    var lines: [String] = []
    for number in numbers {
      let length =
        number < 40
        ? [0, 1, 2, WebPushSealing.longestMessage][number % 4] : random.below(WebPushSealing.longestMessage + 1)
      let message = (0..<length).map { _ in UInt8(random.below(256)) }
      let receiver = receivers[random.below(receivers.count)]
      let sealed = try WebPushSealing.seal(message, for: receiver.keys)
      #expect(sealed.count == length + 103 && sealed.count <= 4_096)
      messages.append(message)
      lines.append([receiver.key, receiver.auth, sealed].map { Base64URL.encode($0) }.joined(separator: " "))
    }
    let script = """
      import sys, base64, http_ece
      from cryptography.hazmat.primitives.asymmetric import ec
      unb64 = lambda t: base64.urlsafe_b64decode(t + '=' * (-len(t) % 4))
      for line in open(sys.argv[1]):
          key, auth, body = map(unb64, line.split())
          key = ec.derive_private_key(int.from_bytes(key, 'big'), ec.SECP256R1())
          text = http_ece.decrypt(body, private_key=key, auth_secret=auth, version='aes128gcm')
          print(base64.urlsafe_b64encode(text).rstrip(b'=').decode())
      """
    let (status, opened) = try PythonJudge.run(script, lines.joined(separator: "\n"))
    #expect(status == 0 && opened.prefix(messages.count).elementsEqual(messages.map { Base64URL.encode($0) }))
  }

  @Test("issue 57: what is longer than a record is not sealed; no two sealed messages share salt or key")
  func bounds() throws {
    let keys = try WebPushKeys(
      p256dh: Base64URL.encode(try P256.publicKey(of: try P256.randomScalar())), auth: String(repeating: "A", count: 22)
    )
    #expect(WebPushSealing.longestMessage == 3_993)
    #expect(throws: WebPushSealing.Failure.tooLong) {
      try WebPushSealing.seal([UInt8](repeating: 1, count: 3_994), for: keys)
    }
    let sealed = try (0..<100).map { _ in try WebPushSealing.seal([1, 2, 3], for: keys) }
    #expect(Set(sealed.map { $0[..<16] }).count == 100 && Set(sealed.map { $0[21..<86] }).count == 100)
  }

  @Test("issue 57: keys of a subscription are read strictly, and an error says nothing of them")
  func keys() throws {
    let point = try P256.publicKey(of: try P256.randomScalar())
    let (p256dh, auth) = (Base64URL.encode(point), Base64URL.encode([UInt8](repeating: 7, count: 16)))
    _ = try WebPushKeys(p256dh: p256dh, auth: auth)
    var offCurve = point
    offCurve[64] ^= 1
    let compressed = [2 + (point[64] & 1)] + point[1...32]
    for bad in [
      "", "A", p256dh + "=", p256dh + "A", String(p256dh.dropLast()), p256dh.replacing("B", with: "+"),
      Base64URL.encode(offCurve),
      Base64URL.encode(compressed), Base64URL.encode([4] + [UInt8](repeating: 0, count: 64)),
      Base64URL.encode([4] + [UInt8](repeating: 255, count: 64)),
      Base64URL.encode([6] + point[1...]), " " + p256dh,
    ] {
      let error = #expect(throws: WebPushKeys.Invalid.p256dh) { try WebPushKeys(p256dh: bad, auth: auth) }
      #expect(error.map { bad.isEmpty || bad.count < 5 || !$0.description.contains(bad) } ?? false)
    }
    for bad in [
      "", auth + "==", Base64URL.encode([UInt8](repeating: 7, count: 15)),
      Base64URL.encode([UInt8](repeating: 7, count: 17)), "\(auth.dropLast())B",
    ] {
      #expect(throws: WebPushKeys.Invalid.auth, "\(bad)") { try WebPushKeys(p256dh: p256dh, auth: bad) }
    }
  }
}
