import Foundation
import HTTPServer
import Kafka
import NudgeSchema
import TestSupport
import Testing

@testable import Ingest
@testable import ServiceKit

/// The HTTP API on an embedded broker, with a backend's key and the keys of users' tokens. One thread uses it.
final class APIUnderTest {
  static let key = "a-key-of-thirty-two-characters-or-more"
  static let otherKey = "another-key-of-thirty-two-characters-or-more"
  static let issuer = "https://accounts.example"
  static let audience = "nudge"

  let broker: EmbeddedBroker
  let directory: TemporaryDirectory
  let capture = LogCapture()
  let metrics = MetricsRegistry()
  let api: EventsAPI

  init(
    _ arguments: [String] = [], rules: IngestRules = IngestRules(), spans: (any SpanRecorder)? = nil,
    limits: EventProducer.Limits = EventProducer.Limits(), server: HTTPServerLimits? = nil,
    live: LiveStreams.Limits? = nil, topics: [Topic] = [.chatEvents, .userEvents], missing: [Topic] = [],
    keys: [String: String] = [:]
  ) throws {
    broker = try EmbeddedBroker()
    for topic in topics { try broker.createTopic(topic.rawValue, partitions: 4) }
    for topic in missing { try broker.hideTopic(topic.rawValue) }
    directory = try TemporaryDirectory()
    try Data(("# backends\nchat \(Self.key)\n" + keys.map { "\($0) \($1)\n" }.joined()).utf8).write(
      to: URL(fileURLWithPath: directory.path + "/keys"))
    try Data(TokenVectors.keySet.utf8).write(to: URL(fileURLWithPath: directory.path + "/jwks"))
    let context = try Self.context(
      [
        "--bootstrap-servers", broker.bootstrapServers, "--api-keys-file", directory.path + "/keys", "--jwt-keys-file",
        directory.path + "/jwks", "--jwt-issuer", Self.issuer, "--jwt-audience", Self.audience,
      ] + arguments, sink: capture.sink, metrics: metrics)
    api = try EventsAPI(context, rules: rules, spans: spans, limits: limits, server: server, live: live)
    try api.start { _ in }
  }

  deinit { api.stop() }

  static func context(_ arguments: [String], sink: LogSink, metrics: MetricsRegistry) throws -> ServiceContext {
    guard case .run(let values) = try IngestService.assembly.schema.parse(arguments, environment: [:]) else {
      throw SettingsError("the arguments ask for something else")
    }
    return ServiceContext(
      name: "ingest", settings: ServiceSettings(values), values: values, logger: Logger(label: "ingest", sink: sink),
      health: HealthState(), metrics: metrics)
  }

  // MARK: Requests

  struct Answer {
    let status: Int
    let headers: [String: String]
    let body: Body
    let text: String
  }

  struct Body: Decodable {
    struct Item: Decodable, Equatable {
      var index: Int
      var eventId: String?
      var status: String
      var code: String?
      var ignored: String?
    }
    var code: String?
    var message: String?
    var accepted: Int?
    var rejected: Int?
    var results: [Item]?
  }

  func post(
    _ body: String, type: String = "application/json", token: String? = APIUnderTest.key, headers: [String] = []
  ) throws -> Answer { try post(Array(body.utf8), type: type, token: token, headers: headers) }

  func post(
    _ body: [UInt8], type: String? = "application/json", token: String? = APIUnderTest.key, headers: [String] = []
  ) throws -> Answer {
    let lines = [type.map { "Content-Type: \($0)" }, token.map { "Authorization: Bearer \($0)" }].compactMap { $0 }
    return try call("POST", "/v1/events", headers: lines + headers, bytes: body)
  }

  func call(_ method: String, _ path: String, headers: [String] = [], bytes: [UInt8]? = nil) throws -> Answer {
    let answer = try SocketClient(port: api.port).request(method, path, headers: headers, bytes: bytes)
    return Answer(
      status: answer.status, headers: answer.headers,
      body: (try? JSONDecoder().decode(Body.self, from: Data(answer.body.utf8))) ?? Body(), text: answer.body)
  }

  // MARK: Tokens

  static func token(
    user: String? = "ann", issuer: String? = APIUnderTest.issuer, audience: String = APIUnderTest.audience,
    expiresIn: Int64? = 600, notBeforeIn: Int64? = nil, pem: String = TokenVectors.ecPrivate, kid: String? = "ec-1"
  ) throws -> String {
    let now = Int64(Date().timeIntervalSince1970)
    let claims = JSONWebClaims(
      issuer: issuer, subject: user, audience: [audience], expiresAt: expiresIn.map { now + $0 },
      notBefore: notBeforeIn.map { now + $0 })
    return try JSONWebToken.sign(claims, key: PrivateKey(pem: pem), kid: kid)
  }

  // MARK: Events

  static func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

  static func message(
    _ id: String, from sender: String = "ann", in conversation: String = "c", at time: Int64 = APIUnderTest.now(),
    text: String = "Hello"
  ) -> String {
    #"{"schemaVersion":1,"type":"message.created","eventId":"\#(id)","occurredAt":\#(time),"#
      + #""conversationId":"\#(conversation)","messageId":"m-\#(id)","senderId":"\#(sender)","text":"\#(text)"}"#
  }

  static func read(_ id: String, by user: String = "ann") -> String {
    #"{"schemaVersion":1,"type":"message.read","eventId":"\#(id)","occurredAt":\#(now()),"#
      + #""userId":"\#(user)","conversationId":"c"}"#
  }

  // MARK: What Kafka has

  struct Written {
    let partition: Int32
    let key: String
    let value: String
    let traceparent: String?
    let producer: String?
    let caller: String?
  }

  /// Waits for `count` records of a topic, and reads to its end. Returns all records.
  func records(_ topic: Topic, count: Int) throws -> [Written] {
    let consumer = try Consumer(
      .consumer(bootstrapServers: broker.bootstrapServers, group: nil, reportsEndOfPartition: true), name: "reader")
    defer { consumer.close() }
    try consumer.assign(
      (0..<4).map {
        TopicPartitionOffset(TopicPartition(topic: topic.rawValue, partition: $0), offset: Offset.beginning)
      })
    var records: [Written] = []
    var ends: Set<Int32> = []
    let deadline = ContinuousClock.now + .seconds(20)
    while ContinuousClock.now < deadline, records.count < count || ends.count < 4 {
      switch consumer.poll(timeout: .milliseconds(50)) {
      case .record(let record):
        records.append(
          Written(
            partition: record.partition, key: String(decoding: record.keyBytes() ?? [], as: UTF8.self),
            value: String(decoding: record.valueBytes() ?? [], as: UTF8.self),
            traceparent: record.header("traceparent").map { String(decoding: $0, as: UTF8.self) },
            producer: record.header("nudge-producer").map { String(decoding: $0, as: UTF8.self) },
            caller: record.header("nudge-caller").map { String(decoding: $0, as: UTF8.self) }))
      case .endOfPartition(let place, _): ends.insert(place.partition)
      default: break
      }
    }
    return records
  }

  func counter(_ name: String, _ labels: [String: String]) -> Int {
    let line = "\(name){\(PrometheusText.labels(labels))} "
    return metrics.exposition().split(separator: "\n").first { $0.hasPrefix(line) }
      .flatMap { Int($0.dropFirst(line.count)) } ?? 0
  }
}
