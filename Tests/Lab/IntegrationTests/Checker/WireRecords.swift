import Foundation

/// The fields of Nudge's records that the checker reads. It decodes the catalogue's JSON without code of the services, which
/// could hide their own defects.
enum Wire {
  struct Origin: Decodable, Hashable {
    var topic: String
    var partition: Int32
    var offset: Int64
    var index: Int32?
  }

  struct Place: Decodable, Hashable {
    var topic: String
    var partition: Int32
    var offset: Int64
  }

  struct Header: Decodable {
    var type: String
    var source: Place
    var origin: Origin
  }

  struct Candidate: Decodable {
    struct Recipient: Decodable {
      struct Context: Decodable { var mentioned: Bool? }
      var userId: String
      var context: Context?
    }
    var messageId: String
    var recipients: [Recipient]
    struct FailedPush: Decodable { var userId: String }
    var replayId: String?
    var forced: Bool?
    var failedPushes: [FailedPush]?
  }

  /// A token or a subscription of Web Push.
  protocol Addressed {
    var token: String? { get }
    var webPush: Subscription? { get }
  }

  struct Subscription: Decodable { var endpoint: String }

  struct DeviceGained: Decodable, Addressed {
    var userId: String
    var deviceId: String
    var token: String?
    var webPush: Subscription?
  }

  struct DeviceLost: Decodable {
    var userId: String
    var deviceId: String
    var tokenHash: String
    var cause: String
  }

  struct Claim: Decodable {
    struct Device: Decodable, Addressed {
      var token: String?
      var webPush: Subscription?
    }
    var tokenHash: String
    var device: Device?
  }

  struct Decision: Decodable {
    struct Analysis: Decodable {
      var used: Int
      var limit: Int
      var windowStartedAt: Int64?
      var fallback: String?
    }
    var userId: String
    var messageId: String
    var conversationId: String
    var outcome: String
    var reason: String
    var presentation: String?
    var analysis: Analysis?
    var pushId: String?
    var replayId: String?
    var decidedAt: Int64?
    var checks: [Check]?

    /// A check that passed and has no inputs is its name alone.
    struct Check: Decodable {
      private enum Key: String, CodingKey { case check }
      var name: String

      init(from decoder: any Decoder) throws {
        if let name = try? decoder.singleValueContainer().decode(String.self) {
          self.name = name
        } else {
          name = try decoder.container(keyedBy: Key.self).decode(String.self, forKey: .check)
        }
      }
    }

    /// The message waits for the person's catch-up.
    var isKeptForCatchUp: Bool { checks?.contains { $0.name == "catch_up" } ?? false }
  }

  struct Push: Decodable {
    struct Target: Decodable, Addressed {
      var deviceId: String
      var token: String?
      var webPush: Subscription?
    }
    struct Escalation: Decodable { var pushedAgainAt: Int64? }
    struct Digest: Decodable {
      struct Part: Decodable { var keys: [String] }
      var messages: Int
      var parts: [Part]?
    }
    var pushId: String
    var userId: String
    /// The content of a catch-up.
    var digest: Digest?
    var messageId: String?
    var conversationId: String?
    var kind: String?
    var replaces: Bool?
    /// The message is said again, or told to the webhook.
    var escalation: Escalation?
    var targets: [Target]
    var expiresAt: Int64
  }

  struct Outcome: Decodable {
    var pushId: String
    var userId: String
    var deviceId: String
    var result: String
    var attempts: Int
    var errorCode: String?
    /// It was not sent in time, and is left to the catch-up.
    var catchUp: Bool?
    var finishedAt: Int64
  }

  struct Receipt: Decodable, Hashable {
    var pushId: String
    var userId: String
    var deviceId: String
    var state: String
  }

  struct Position: Decodable {
    var sequence: Int64
    /// Keyed by the catalogue's topic names.
    var next: [String: Int64]
    var writer: String
  }
}

extension Wire.Addressed {
  /// Where its pushes go: the token, or the endpoint.
  var address: String { token ?? webPush?.endpoint ?? "" }
}
