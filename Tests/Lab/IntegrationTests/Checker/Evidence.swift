/// A committed record of Kafka.
struct KafkaRecord: Equatable {
  /// The catalogue's name, without a deployment's prefix.
  var topic: String
  var partition: Int32
  var offset: Int64
  /// Milliseconds since the epoch.
  var timestamp: Int64
  var key: String?
  var value: [UInt8]?
  var headers: [String: String] = [:]
  /// The headers as bytes.
  var headerBytes: [String: [UInt8]] = [:]
}

/// A request to send a message, as FCM received it, or a service of Web Push, or the webhook.
struct SeenRequest: Equatable {
  /// When it arrived, in milliseconds since the epoch.
  var time: Int64
  var status: Int
  /// The token, or the endpoint.
  var token: String
  var pushId: String
  var recipientId: String
  /// The message it shows; nil for badges, and for reads, which only say up to which message.
  var messageId: String?

  /// FCM and the webhook answer 200, a service of Web Push 201.
  var isTaken: Bool { status == 200 || status == 201 }

  /// The token of requests to the webhook, whose push is the `webhook-id`.
  static let webhook = ""
}

/// The committed offset of a group for a partition of an input.
struct CommittedPlace: Equatable {
  /// The stage's name, such as `ingest`.
  var stage: String
  /// The catalogue's name.
  var topic: String
  var partition: Int32
  var offset: Int64
  var metadata: String
}
