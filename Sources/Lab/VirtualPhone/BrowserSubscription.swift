public import NudgeClient
internal import ServiceKit
public import WebPush

/// A browser's subscription at the lab's push service. Its keys and its endpoint follow from its name, so that the push service and a
/// program that plays the browser compute the same subscription. Only a lab may do that: real keys are random.
public struct BrowserSubscription: Sendable {
  /// The path of the push service's endpoints, before their ids.
  public static let path = "/wpush/"

  /// The last part of the endpoint: the name, a dot, and a mark that the service made it.
  public let id: String
  /// Opens what was sealed for it.
  public let receiver: WebPushReceiver

  /// Makes the subscription of a name of 1 to 200 letters, digits, `-`, `_` and `~`. Fails for any other name.
  public init?(name: String) {
    guard (1...200).contains(name.utf8.count), name.utf8.allSatisfy(Self.isPart) else { return nil }
    func bytes(_ purpose: String) -> [UInt8] {
      HMACSHA256.of(Array(name.utf8), key: Array("nudge lab \(purpose)".utf8))
    }
    // The value is below 2^255, and so below the order of the curve.
    var privateKey = bytes("key")
    privateKey[0] &= 0x7F
    guard let receiver = try? WebPushReceiver(privateKey: privateKey, secret: Array(bytes("secret").prefix(16))) else {
      return nil
    }
    self.receiver = receiver
    id = "\(name).\(Base64URL.encode(bytes("id").prefix(20)))"
  }

  /// Makes the subscription of an id. Fails if the service has not made that id.
  public init?(id: String) {
    guard let dot = id.lastIndex(of: "."), let made = BrowserSubscription(name: String(id[..<dot])), made.id == id
    else {
      return nil
    }
    self = made
  }

  /// The subscription's endpoint at a push service with this base URL.
  public func endpoint(at url: String) -> String { url + Self.path + id }

  /// The subscription as an app registers it.
  public func registration(at url: String) -> Device.WebPushSubscription {
    Device.WebPushSubscription(endpoint: endpoint(at: url), p256dh: receiver.p256dh, auth: receiver.auth)
  }

  private static func isPart(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F, 0x7E: true
    default: false
    }
  }
}
