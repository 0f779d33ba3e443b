/// A record as it lies in Kafka, read committed.
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
  /// The same, as they came.
  var headerBytes: [String: [UInt8]] = [:]
}

/// A request to send a message, as FCM saw it.
struct SeenRequest: Equatable {
  /// When it came, in milliseconds since the epoch.
  var time: Int64
  var status: Int
  var token: String
  var pushId: String
  var recipientId: String
  var messageId: String?
}

/// What a group has committed for a partition of an input.
struct CommittedPlace: Equatable {
  /// The stage's name, as `ingest`.
  var stage: String
  /// The catalogue's name.
  var topic: String
  var partition: Int32
  var offset: Int64
  var metadata: String
}
