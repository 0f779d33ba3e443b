/// A request of Kafka's protocol, and the decoding of its answer.
protocol WireRequest {
  associatedtype Answer
  static var key: Int16 { get }
  /// A request that is sent in several versions has the same fields in all of them, and this is the first.
  static var version: Int16 { get }
  /// The version that is sent.
  var version: Int16 { get }
  /// Whether the request's header has tagged fields.
  static var hasFlexibleRequest: Bool { get }
  /// Whether the answer's header has tagged fields.
  static var hasFlexibleAnswer: Bool { get }
  /// The approximate size of the body in bytes.
  var estimatedSize: Int { get }
  /// The name in Kafka's documentation.
  static var name: String { get }
  func encode(into writer: inout WireWriter)
  static func decode(_ reader: inout WireReader) throws(WireError) -> Answer
}

extension WireRequest {
  var version: Int16 { Self.version }
  static var hasFlexibleRequest: Bool { true }
  static var hasFlexibleAnswer: Bool { true }
  var estimatedSize: Int { 256 }
}

/// An answer, and how long the client must wait before it sends the next request on the same connection (KIP-219).
struct WireAnswer<Content> {
  let content: Content
  let throttle: Duration
}

enum WireFrame {
  /// A whole request: length, header, body.
  static func encode<R: WireRequest>(_ request: R, correlation: Int32, client: String) -> [UInt8] {
    var writer = WireWriter(reserving: request.estimatedSize + client.utf8.count + 32)
    writer.int32(0)
    writer.int16(R.key)
    writer.int16(request.version)
    writer.int32(correlation)
    writer.oldText(client)
    if R.hasFlexibleRequest { writer.noTags() }
    request.encode(into: &writer)
    writer.overwrite(int32: Int32(writer.bytes.count - 4), at: 0)
    return writer.bytes
  }

  /// Reads an answer without its length. Trailing bytes are ignored: newer brokers may send more.
  static func decode<R: WireRequest>(
    _: R.Type, _ bytes: [UInt8], correlation: Int32
  ) throws(WireError) -> WireAnswer<R.Answer> {
    var reader = WireReader(bytes)
    guard try reader.int32() == correlation else { throw .badNumber }
    if R.hasFlexibleAnswer { try reader.tags() }
    let content = try R.decode(&reader)
    return WireAnswer(content: content, throttle: .milliseconds(max(0, reader.throttleTime)))
  }
}
