import CLibrdkafka
import Foundation
import OAuthBearer
import PeerSockets
import Synchronization

/// Owns one `rd_kafka_t` and all topic handles made from it.
///
/// Records and calls in progress hold a reference to the client, so it is destroyed after the last of them. It is destroyed on a
/// separate thread: `rd_kafka_destroy` joins the client's threads, and one of those may hang in a name lookup or a TLS handshake. To learn
/// when the client has been destroyed, wait for ``Client/Lifetime``.
///
/// `@unchecked Sendable`: librdkafka's client is thread-safe, the pointer never changes, and everything else is
/// immutable or behind a `Mutex`.
final class Client: @unchecked Sendable {
  let pointer: OpaquePointer
  let lifetime = Lifetime()
  /// The reason of the last failed connection that a poll has served.
  var connectionFailure: KafkaError? { callbacks.connectionFailure.withLock { $0 } }
  /// The context of the C callbacks, which is kept until the client's threads have ended.
  private let callbacks: ClientCallbacks
  private let topics = Mutex<[OpaqueBits]>([])

  /// - Parameter prepare: Sets the callbacks of this kind of client.
  init(
    _ type: rd_kafka_type_t, _ configuration: ClientConfiguration, callbacks: ClientCallbacks,
    prepare: (OpaquePointer) -> Void = { _ in }
  ) throws(KafkaError) {
    let operation = type == RD_KAFKA_CONSUMER ? "make a consumer" : "make a producer"
    var configuration = configuration
    if configuration["client.id"] == nil { configuration.set("client.id", callbacks.name) }
    // Log lines are queued for poll: the closure never runs on librdkafka's threads and cannot block them.
    configuration.set("log.queue", "true")
    let tokens = try configuration.makeTokenSource()
    callbacks.tokens.withLock { $0 = tokens }
    let conf = try configuration.makeC()
    if tokens != nil {
      rd_kafka_conf_set_oauthbearer_token_refresh_cb(conf, ClientCallbacks.refreshToken)
      rd_kafka_conf_enable_sasl_queue(conf, 1)
    }
    rd_kafka_conf_set_opaque(conf, Unmanaged.passUnretained(callbacks).toOpaque())
    rd_kafka_conf_set_log_cb(conf, ClientCallbacks.log)
    rd_kafka_conf_set_error_cb(conf, ClientCallbacks.error)
    rd_kafka_conf_set_socket_cb(conf) { family, type, number, _ in
      PeerSockets.make(family: family, type: type, protocol: number)
    }
    rd_kafka_conf_set_closesocket_cb(conf) { descriptor, _ in PeerSockets.close(descriptor) }
    if callbacks.statistics != nil { rd_kafka_conf_set_stats_cb(conf, ClientCallbacks.statistics) }
    prepare(conf)
    var text = [CChar](repeating: 0, count: 512)
    guard let pointer = rd_kafka_new(type, conf, &text, text.count) else {
      let code = rd_kafka_last_error()
      // librdkafka takes ownership of the configuration only on success.
      rd_kafka_conf_destroy(conf)
      throw KafkaError(operation, code, reason: text.string)
    }
    self.pointer = pointer
    self.callbacks = callbacks
    // Tokens are fetched on librdkafka's thread: polling does not wait for an endpoint, and some clients never poll.
    if tokens != nil, let error = rd_kafka_sasl_background_callbacks_enable(pointer) {
      let reason = String(cString: rd_kafka_error_string(error))
      rd_kafka_error_destroy(error)
      throw .invalid(operation, "OAUTHBEARER: \(reason)")
    }
  }

  /// The handle of a topic, destroyed before the client, as librdkafka requires.
  func makeTopic(_ name: String) throws(KafkaError) -> OpaquePointer {
    guard let topic = rd_kafka_topic_new(pointer, name, nil) else {
      throw KafkaError("open topic \"\(name)\"", rd_kafka_last_error())
    }
    topics.withLock { $0.append(OpaqueBits(topic)) }
    return topic
  }

  deinit {
    let client = OpaqueBits(pointer)
    let topics = topics.withLock { $0 }
    let callbacks = callbacks
    let lifetime = lifetime
    let thread = Thread {
      for topic in topics { rd_kafka_topic_destroy(topic.pointer) }
      rd_kafka_destroy(client.pointer)
      withExtendedLifetime(callbacks) {}
      lifetime.isOver.withLock { $0 = true }
      lifetime.signal.signal()
    }
    thread.name = "kafka-destroy"
    thread.start()
  }

  /// Refers to a client without keeping it alive, and reports its destruction.
  final class Lifetime: Sendable {
    fileprivate let isOver = Mutex(false)
    fileprivate let signal = DispatchSemaphore(value: 0)

    /// Waits for the destruction of the client. Returns false after the time-out.
    func wait(timeout: Duration) -> Bool {
      if isOver.withLock({ $0 }) { return true }
      let over = signal.wait(timeout: .now() + .milliseconds(Int(timeout.milliseconds))) == .success
      if over { signal.signal() }
      return over
    }
  }
}

/// A C handle that is passed to another thread.
///
/// `@unchecked Sendable`: librdkafka's handles may be used on any thread; the sender decides which thread frees it.
struct OpaqueBits: @unchecked Sendable {
  let pointer: OpaquePointer
  init(_ pointer: OpaquePointer) { self.pointer = pointer }
}

/// The context of a client's C callbacks. They run on the polling thread, except for `refreshToken`.
final class ClientCallbacks: Sendable {
  let name: String
  let log: (@Sendable (KafkaLogLine) -> Void)?
  let statistics: (@Sendable (String) -> Void)?
  let delivery: (@Sendable (Delivery) -> Void)?
  let rebalances: RebalanceInbox?
  /// The reason of the last failed connection.
  let connectionFailure = Mutex<KafkaError?>(nil)
  /// The source of the login's tokens. Absent if the login needs none.
  let tokens = Mutex<BearerTokenSource?>(nil)

  init(
    name: String, log: (@Sendable (KafkaLogLine) -> Void)?, statistics: (@Sendable (String) -> Void)? = nil,
    delivery: (@Sendable (Delivery) -> Void)? = nil, rebalances: RebalanceInbox? = nil
  ) {
    self.name = name
    self.log = log
    self.statistics = statistics
    self.delivery = delivery
    self.rebalances = rebalances
  }

  /// A refused login or a failed TLS handshake explains more than the closed connection that follows it.
  private func recordConnectionFailure(_ error: KafkaError) {
    guard error.isConnectionFailure else { return }
    connectionFailure.withLock { known in
      if error.isLoginRefused || error.isTLSFailure || known == nil { known = error }
    }
  }

  /// The context behind a callback's `opaque`. Unretained: ``Client`` keeps it until after `rd_kafka_destroy`.
  static func from(_ opaque: UnsafeMutableRawPointer?) -> ClientCallbacks? {
    opaque.map { Unmanaged<ClientCallbacks>.fromOpaque($0).takeUnretainedValue() }
  }

  static let log: @convention(c) (OpaquePointer?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Void = {
    client, level, facility, text in
    guard let client, let context = ClientCallbacks.from(rd_kafka_opaque(client)), let log = context.log else { return }
    log(
      KafkaLogLine(
        level: Int(level), facility: facility.map { String(cString: $0) } ?? "",
        message: text.map { String(cString: $0) } ?? "", client: context.name))
  }

  /// Called by librdkafka's background thread: at first, after four fifths of a token's lifetime, and ten seconds after a failure.
  static let refreshToken: @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, UnsafeMutableRawPointer?) -> Void = {
    client, _, opaque in
    guard let client, let tokens = ClientCallbacks.from(opaque)?.tokens.withLock({ $0 }) else { return }
    do throws(BearerTokenError) {
      let token = try tokens.token()
      let fields = tokens.settings.extensions.flatMap { [strdup($0.key), strdup($0.value)] }
      defer { for field in fields { free(field) } }
      var names = fields.map { UnsafePointer<CChar>($0) }
      var text = [CChar](repeating: 0, count: 512)
      let code = rd_kafka_oauthbearer_set_token(
        client, token.value, token.expiresAt, token.principal, &names, names.count, &text, text.count)
      // librdkafka's text may contain part of the token.
      if code != RD_KAFKA_RESP_ERR_NO_ERROR {
        rd_kafka_oauthbearer_set_token_failure(client, "librdkafka does not take the token (not shown)")
      }
    } catch {
      rd_kafka_oauthbearer_set_token_failure(client, error.description)
    }
  }

  static let error: @convention(c) (OpaquePointer?, Int32, UnsafePointer<CChar>?, UnsafeMutableRawPointer?) -> Void = {
    client, code, reason, opaque in
    guard let context = ClientCallbacks.from(opaque) else { return }
    let error = KafkaError(
      "connect", rd_kafka_resp_err_t(code), reason: reason.map { String(cString: $0) }, client: client)
    context.recordConnectionFailure(error)
    guard let log = context.log else { return }
    log(
      KafkaLogLine(
        level: error.isFatal ? 2 : 3, facility: "ERROR", message: "\(error.name): \(error.reason)",
        client: context.name))
  }

  static let statistics:
    @convention(c) (OpaquePointer?, UnsafeMutablePointer<CChar>?, Int, UnsafeMutableRawPointer?) -> Int32 = {
      _, json, length, opaque in
      if let context = ClientCallbacks.from(opaque), let statistics = context.statistics, let json {
        statistics(String(decoding: UnsafeRawBufferPointer(start: json, count: length), as: UTF8.self))
      }
      return 0  // librdkafka frees the text
    }
}

extension Duration {
  /// Whole milliseconds, from 0 to the maximum of librdkafka's `int`. They are rounded up, so that a short wait does not become 0.
  var milliseconds: Int32 {
    let (seconds, attoseconds) = components
    if seconds < 0 || attoseconds < 0 { return 0 }
    if seconds > 2_000_000 { return 2_000_000_000 }
    return Int32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}

/// Deadlines are moments of this clock, which also runs while the machine sleeps.
extension ContinuousClock.Instant {
  /// The time left; zero once it is past.
  var remaining: Duration { max(.zero, ContinuousClock.now.duration(to: self)) }
  var isPast: Bool { remaining == .zero }
}

extension Client {
  /// The number of partitions of each topic. Topics that do not exist are missing.
  ///
  /// A new topic may have no leaders yet: the request is repeated until the time-out.
  func partitionCounts(of topics: [String], timeout: Duration) throws(KafkaError) -> [String: Int] {
    let deadline = ContinuousClock.now + timeout
    var counts: [String: Int] = [:]
    for name in topics {
      guard let topic = rd_kafka_topic_new(pointer, name, nil) else {
        throw KafkaError("open topic \"\(name)\"", rd_kafka_last_error())
      }
      defer { rd_kafka_topic_destroy(topic) }
      counts[name] = try partitionCount(of: topic, named: name, until: deadline)
    }
    return counts
  }

  private func partitionCount(of topic: OpaquePointer, named name: String, until deadline: ContinuousClock.Instant)
    throws(KafkaError) -> Int?
  {
    let operation = "ask for the metadata of topic \"\(name)\""
    while true {
      let metadata = try Metadata(operation, client: pointer, topic: topic, timeout: deadline.remaining)
      guard let found = metadata.topics.first(where: { $0.name == name }) else {
        return nil
      }
      switch found.error {
      case RD_KAFKA_RESP_ERR_NO_ERROR: return found.partitions
      case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC: return nil
      case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE where !deadline.isPast:
        // A pause between two requests, which would else flood a broker during an election.
        usleep(20_000)
      default: throw KafkaError(operation, found.error)
      }
    }
  }
}

/// Owns a result of `rd_kafka_metadata`.
struct Metadata: ~Copyable {
  private let pointer: UnsafePointer<rd_kafka_metadata>

  /// Requests the metadata of one topic, or of all.
  init(_ operation: String, client: OpaquePointer, topic: OpaquePointer?, timeout: Duration) throws(KafkaError) {
    var answer: UnsafePointer<rd_kafka_metadata>?
    let code = rd_kafka_metadata(client, topic == nil ? 1 : 0, topic, &answer, timeout.milliseconds)
    try KafkaError.check(operation, code, client: client)
    guard let answer else { throw KafkaError(operation, RD_KAFKA_RESP_ERR__FAIL) }
    pointer = answer
  }

  deinit { rd_kafka_metadata_destroy(pointer) }

  /// A copy of the brokers.
  var brokers: [(id: Int32, host: String, port: Int32)] {
    UnsafeBufferPointer(start: pointer.pointee.brokers, count: Int(pointer.pointee.broker_cnt)).map {
      ($0.id, $0.host.map { String(cString: $0) } ?? "", $0.port)
    }
  }

  /// A copy of the topics.
  var topics: [(name: String, partitions: Int, error: rd_kafka_resp_err_t)] {
    UnsafeBufferPointer(start: pointer.pointee.topics, count: Int(pointer.pointee.topic_cnt)).map {
      ($0.topic.map { String(cString: $0) } ?? "", Int($0.partition_cnt), $0.err)
    }
  }
}
