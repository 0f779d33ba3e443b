internal import CNghttp2
internal import Glibc

/// A request and its answer on one stream. Exchanges are recycled, since allocating one costs more than serving it. Only the
/// emulator's thread uses them.
final class StreamExchange {
  /// The destination of a path.
  enum Route: Equatable {
    case send(project: Int)
    case unknownProject
    case token
    case webhook
    /// A subscription of Web Push, by the last part of its endpoint.
    case push(id: String)
    case control(EmulatorControl.Endpoint)
    case nothing

    /// Requests to control endpoints are not counted or recorded.
    var isControl: Bool { if case .control = self { true } else { false } }
  }

  /// The longest body in bytes. A longer body is refused.
  static let maxBody = 1 << 20

  var stream: Int32 = 0
  /// Absent once the stream is closed, which drops a delayed answer.
  var connection: Connection?
  /// The index in ``Connection/exchanges``.
  var position = 0
  var route = Route.nothing
  var isPost = false
  var isGet = false
  var isAuthorized = false
  var hasCredentials = false
  var contentType: String?
  var isJSON = false
  /// The request's path. Empty unless requests are recorded.
  var path = ""
  var headers: [(name: String, value: String)] = []
  /// The header fields of a push.
  var pushHeaders: [String: String] = [:]
  /// The message that a browser opened, in the shape of FCM's messages. Absent if no browser opened one.
  var opened: [UInt8]?
  /// The outcome to apply after the delay.
  var pending: StreamOutcome?

  private(set) var body = UnsafeMutablePointer<UInt8>.allocate(capacity: 2_048)
  private(set) var bodyCount = 0
  private var bodyCapacity = 2_048
  private(set) var isTooLarge = false

  private var answer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 512)
  private(set) var answerCount = 0
  private var answerOffset = 0
  private var breaksAt: Int?

  deinit {
    body.deallocate()
    answer.deallocate()
  }

  /// Prepares the exchange for another stream.
  func reset(stream: Int32, connection: Connection) {
    self.stream = stream
    self.connection = connection
    route = .nothing
    isPost = false
    isGet = false
    isAuthorized = false
    hasCredentials = false
    contentType = nil
    isJSON = false
    path = ""
    headers.removeAll(keepingCapacity: true)
    pushHeaders.removeAll()
    opened = nil
    pending = nil
    bodyCount = 0
    isTooLarge = false
    answerCount = 0
    answerOffset = 0
    breaksAt = nil
  }

  func append(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
    guard bodyCount + count <= Self.maxBody else {
      isTooLarge = true
      return
    }
    if bodyCount + count > bodyCapacity {
      let capacity = max(bodyCount + count, 2 * bodyCapacity)
      let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
      larger.update(from: body, count: bodyCount)
      body.deallocate()
      body = larger
      bodyCapacity = capacity
    }
    (body + bodyCount).update(from: bytes, count: count)
    bodyCount += count
  }

  /// Appends to the answer's body.
  func appendAnswer(_ bytes: [UInt8]) {
    if answerCount + bytes.count > answer.count {
      let larger = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 2 * (answerCount + bytes.count))
      _ = larger.update(fromContentsOf: answer[..<answerCount])
      answer.deallocate()
      answer = larger
    }
    _ = UnsafeMutableBufferPointer(rebasing: answer[answerCount...]).update(fromContentsOf: bytes)
    answerCount += bytes.count
  }

  /// Makes the answer stop after its headers.
  func withholdAnswer() {
    breaksAt = 0
  }

  /// Makes the answer stop half-way.
  func breakAnswer() {
    breaksAt = answerCount / 2
  }

  /// nghttp2's callback for the answer's body.
  static let readAnswer:
    @convention(c) (
      OpaquePointer?, Int32, UnsafeMutablePointer<UInt8>?, Int, UnsafeMutablePointer<UInt32>?,
      UnsafeMutablePointer<nghttp2_data_source>?, UnsafeMutableRawPointer?
    ) -> Int = { _, _, buffer, room, flags, source, _ in
      guard let buffer, let flags, let context = source?.pointee.ptr else {
        return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
      }
      let exchange = Unmanaged<StreamExchange>.fromOpaque(context).takeUnretainedValue()
      let end = exchange.breaksAt ?? exchange.answerCount
      if exchange.breaksAt != nil, exchange.answerOffset == end {
        // The body ends here; the server resets the stream.
        return Int(NGHTTP2_ERR_DEFERRED.rawValue)
      }
      let count = min(room, end - exchange.answerOffset)
      if count > 0, let base = exchange.answer.baseAddress {
        buffer.update(from: base + exchange.answerOffset, count: count)
      }
      exchange.answerOffset += count
      if exchange.breaksAt == nil, exchange.answerOffset == end { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
      return count
    }
}

/// The outcome of a request.
enum StreamOutcome {
  /// A message was accepted.
  case sent(project: Int)
  /// A message was accepted but reaches no device.
  case lost(project: Int)
  case answer(EmulatorAnswer)
  case resetConnection
  case resetStream
  case hang
  case brokenBody(project: Int)
  case hangAfterHeaders
  case goAway(project: Int)
}
