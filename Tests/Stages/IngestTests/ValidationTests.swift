import Ingest
import NudgeSchema
import StreamRuntime
import TestSupport
import Testing

@Suite struct ValidationTests {
  private static let read = """
    {"schemaVersion":1,"type":"message.read","eventId":"e1","occurredAt":\(IngestPipeline.start),\
    "userId":"ann","conversationId":"c"}
    """

  private func rejection(_ json: String, key: String = "ann", topic: Topic = .userEvents) -> Rejection? {
    rejection(bytes: Array(json.utf8), key: Array(key.utf8), topic: topic)
  }

  private func rejection(bytes: [UInt8]?, key: [UInt8]?, topic: Topic = .userEvents, rules: IngestRules? = nil)
    -> Rejection?
  {
    let pipeline = IngestPipeline(rules: rules)
    let result = pipeline.driver.send(bytes: bytes, to: topic, key: key)
    #expect(result.rejection == nil || result.outputs.isEmpty)
    return result.rejection
  }

  @Test("M5: an event as the catalogue says is accepted")
  func accepted() { #expect(rejection(Self.read) == nil) }

  @Test("M5: a time may be RFC 3339")
  func acceptsRFC3339() {
    let json = Self.read.replacing("\(IngestPipeline.start)", with: "\"\(RFC3339.text(IngestPipeline.start))\"")
    #expect(rejection(json) == nil)
  }

  @Test(
    "M5: what is not JSON is invalid_json",
    arguments: [
      "", " ", "{", "{\"schemaVersion\":1", "nonsense", "{\"schemaVersion\":1 2}", "\u{0}", "[1,",
      String(repeating: "[", count: 100_000), "{\"schemaVersion\":1,\"type\":\"\\q\"}",
    ])
  func notJSON(json: String) { #expect(rejection(json)?.code == .invalidJSON) }

  @Test("M5: UTF-16 is not taken for JSON")
  func notUTF16() {
    let bytes = Self.read.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
    #expect(rejection(bytes: bytes, key: Array("ann".utf8))?.code == .invalidJSON)
  }

  @Test("M5: what is not UTF-8 is invalid_utf8, value and key")
  func notUTF8() {
    var bytes = Array(Self.read.replacing("\"c\"", with: "\"c?\"").utf8)
    bytes[bytes.lastIndex(of: UInt8(ascii: "?")) ?? 0] = 0xff
    #expect(rejection(bytes: bytes, key: Array("ann".utf8))?.code == .invalidUTF8)
    #expect(rejection(bytes: Array(Self.read.utf8), key: [0xc3])?.code == .invalidUTF8)
  }

  struct Broken: Sendable, CustomTestStringConvertible {
    var replaced: String
    var with: String
    var field: String
    var testDescription: String { with.isEmpty ? "without \(field)" : with }
  }

  @Test(
    "M5: a missing or wrong field is schema_violation and named",
    arguments: [
      Broken(replaced: "\"conversationId\":\"c\"", with: "\"x\":1", field: "conversationId"),
      Broken(replaced: "\"eventId\":\"e1\",", with: "", field: "eventId"),
      Broken(replaced: "\"schemaVersion\":1,", with: "", field: "schemaVersion"),
      Broken(replaced: "\"occurredAt\":\(IngestPipeline.start),", with: "", field: "occurredAt"),
      Broken(replaced: "\(IngestPipeline.start)", with: "\"yesterday\"", field: "occurredAt"),
      Broken(replaced: "\(IngestPipeline.start)", with: "1e400", field: "occurredAt"),
      Broken(replaced: "\"e1\"", with: "7", field: "eventId"),
      Broken(replaced: "\"e1\"", with: "\"\"", field: "eventId"),
      Broken(replaced: "\"c\"", with: "null", field: "conversationId"),
      Broken(replaced: "\"c\"", with: "[\"c\"]", field: "conversationId"),
      Broken(replaced: "\"c\"", with: "\"c\\u0000d\"", field: "conversationId"),
      Broken(replaced: "\"c\"", with: "\"\(String(repeating: "c", count: 257))\"", field: "conversationId"),
    ])
  func wrongFields(broken: Broken) {
    let rejection = rejection(Self.read.replacing(broken.replaced, with: broken.with))
    #expect(rejection?.code == .schemaViolation)
    #expect(rejection?.message.contains(broken.field) == true, "\(rejection?.message ?? "")")
  }

  @Test("M5: JSON that is no object is schema_violation", arguments: ["[]", "7", "\"text\"", "null", "true"])
  func noObject(json: String) { #expect(rejection(json)?.code == .schemaViolation) }

  /// Foundation's decoder would see it in known members; it does not look at unknown ones.
  @Test(
    "M5: what is no JSON in a member that nobody reads is invalid_json",
    arguments: [
      "\"x\":\"a\u{1}\"", "\"x\":\"a\u{12}\"", "\"x\":\"a\n\"", "\"x\":\"a\t\"", "\"x\":\"a\r\"", "\"a\\\"\n\":1",
      #""x":"\xa""#, #""\q":1"#, #""x":"\u12g4""#, #""x":"\ud800d""#, #""x":"\udc00""#, #""x":["\ud83d\ud83d"]"#,
      #""x":1-2"#, #""x":01"#, #""x":-"#, #""x":1e400"#, #""x":1."#, #""x":[1e]"#, #""x":tru"#, #""x":{"y":nul}"#,
      #""x":"#, #""x""#,
      "\"x\":\u{0}1", "\"x\":\"\u{0}\"",
    ])
  func notJSONWhereNobodyReads(member: String) {
    let found = rejection(Self.readWith(member))
    #expect(found?.code == .invalidJSON)
    #expect(found?.message.hasPrefix("the record's value is not JSON") == true)
  }

  @Test(
    "M5: any JSON is taken in a member that nobody reads",
    arguments: [
      "\n\"x\"\t:\r\"a\\u0012\\\\\"", #""x":"\ud83d\ude00""#, #""\/":"\b\f\n\r\t""#, #""x":18446744073709551616"#,
      #""x":-0.5e-7"#,
      "\"x\":" + String(repeating: "[", count: 500) + String(repeating: "]", count: 500),
    ])
  func anyJSONWhereNobodyReads(member: String) { #expect(rejection(Self.readWith(member)) == nil) }

  private static func readWith(_ member: String) -> String {
    read.replacing("{\"schemaVersion\"", with: "{\(member),\"schemaVersion\"")
  }

  @Test(
    "M5: an integer with a fraction, or of more than 64 bits, is named",
    arguments: [
      (#"{"maxAnalysesPerHour":1.5}"#, "preferences.maxAnalysesPerHour"),
      (#"{"learnSince":1e30}"#, "preferences.learnSince"),
      (#"{"dailyAlerts":9223372036854775808}"#, "preferences.dailyAlerts"),
    ])
  func noInteger(preferences: String, field: String) {
    let json = """
      {"schemaVersion":1,"type":"preferences.updated","eventId":"e","occurredAt":\(IngestPipeline.start),"userId":"ann",\
      "preferences":\(preferences),"x":2}
      """
    #expect(rejection(json, key: "ann") == Rejection(.schemaViolation, "\(field) is not an integer"))
  }

  @Test("M5: a path leads to the member that is wrong")
  func nestedPath() {
    let json = """
      {"schemaVersion":1,"type":"conversation.updated","eventId":"e","occurredAt":\(IngestPipeline.start),\
      "conversationId":"c","kind":"group","members":[{"userId":"a","displayName":"A"},{"displayName":"B"}]}
      """
    #expect(
      rejection(json, key: "c", topic: .chatEvents)
        == Rejection(.schemaViolation, "members[1].userId is missing"))
  }

  @Test("M5: a value that is none of those allowed is schema_violation")
  func unknownValue() {
    let json = """
      {"schemaVersion":1,"type":"conversation.updated","eventId":"e","occurredAt":\(IngestPipeline.start),\
      "conversationId":"c","kind":"secret value","members":[]}
      """
    #expect(
      rejection(json, key: "c", topic: .chatEvents)
        == Rejection(.schemaViolation, "kind is not one of the allowed values: direct, group", isUnknownValue: true))
  }

  @Test("M5: another version is unsupported_version, another topic's type unknown_type")
  func versionAndType() {
    #expect(
      rejection(Self.read.replacing("\"schemaVersion\":1", with: "\"schemaVersion\":2"))?.code
        == .unsupportedVersion)
    #expect(rejection(Self.read.replacing("message.read", with: "message.created"))?.code == .unknownType)
    #expect(
      rejection(Self.read, key: "c", topic: .chatEvents)
        == Rejection(.unknownType, "message.read belongs on user.events"))
    #expect(
      rejection(Self.read.replacing("message.read", with: "no.such"))
        == Rejection(.unknownType, "type is none of \(UserEventBody.types.map(\.rawValue).joined(separator: ", "))"))
  }

  @Test("M5: a record of more bytes than allowed is too_large, and is not read")
  func tooLarge() {
    let rules = IngestPipeline.rules { $0.maxRecordBytes = 1_000 }
    let padded = Array((Self.read + String(repeating: " ", count: 1_000 - Self.read.utf8.count)).utf8)
    #expect(rejection(bytes: padded, key: Array("ann".utf8), rules: rules) == nil)
    #expect(rejection(bytes: padded + [0x20], key: Array("ann".utf8), rules: rules)?.code == .tooLarge)
  }

  @Test("M5: a record without a key is missing_key, one whose key is not the event's id key_mismatch")
  func keys() {
    #expect(rejection(bytes: Array(Self.read.utf8), key: nil)?.code == .missingKey)
    #expect(rejection(bytes: Array(Self.read.utf8), key: [])?.code == .missingKey)
    #expect(rejection(Self.read, key: "ben")?.code == .keyMismatch)
    let claim = """
      {"schemaVersion":1,"type":"device.unregistered","eventId":"e","occurredAt":1,"tokenHash":"h","userId":"u",\
      "deviceId":"d","cause":"signed_out","origin":{"topic":"t","partition":0,"offset":0},\
      "source":{"topic":"t","partition":0,"offset":0}}
      """
    #expect(rejection(claim, key: "h", topic: .deviceClaims) == nil)
    #expect(rejection(claim, key: "g", topic: .deviceClaims)?.code == .keyMismatch)
  }

  @Test("M5: a key that Unicode holds to be alike is another key")
  func keyBytes() {
    let json = Self.read.replacing("\"ann\"", with: "\"jos\u{e9}\"")
    #expect(rejection(json, key: "jos\u{e9}") == nil)
    #expect(rejection(json, key: "jose\u{301}")?.code == .keyMismatch)
  }

  @Test("M5: a tombstone has a reason as well")
  func tombstone() {
    #expect(rejection(bytes: nil, key: Array("ann".utf8))?.code == .schemaViolation)
  }

  @Test("M5: events from 7 d ago to 5 min ahead are accepted, others are too_old and from_the_future")
  func times() throws {
    let week: Milliseconds = 7 * 86_400_000
    let expected: [(Milliseconds, DeadLetterCode?)] = [
      (-week, nil), (-week - 1, .tooOld), (300_000, nil), (300_001, .fromTheFuture),
    ]
    for (after, code) in expected {
      let pipeline = IngestPipeline()
      let event = pipeline.envelope(after: after + IngestPipeline.transit)
      #expect(
        try pipeline.user(.read(MessageRead(userId: "a", conversationId: "c")), event).rejection?.code == code)
      #expect(try pipeline.group(["a"], envelope: event).rejection?.code == code)
    }
  }

  @Test("M5: a time in another unit is refused with a question: milliseconds?")
  func units() throws {
    let now = IngestPipeline.start
    let asked = "did you mean milliseconds?"
    func reason(_ time: Int64) -> String {
      rejection(Self.read.replacing("\"occurredAt\":\(now)", with: "\"occurredAt\":\(time)"))?.message ?? "accepted"
    }
    #expect(reason(now) == "accepted")
    #expect(reason(now / 1_000).hasSuffix("It looks like seconds: \(asked)"), "\(reason(now / 1_000))")
    #expect(reason(now * 1_000).hasSuffix("It looks like microseconds: \(asked)"), "\(reason(now * 1_000))")
    #expect(reason(now * 1_000_000).hasSuffix("It looks like nanoseconds: \(asked)"))
    for time in [0, now - 30 * 86_400_000, Int64.max] { #expect(!reason(time).contains(asked), "\(time)") }
  }

  @Test("M5: the frame of a schema registry is refused by its name, and read past where that is asked for")
  func frames() throws {
    let framed = [0, 0, 0, 1, 2] + Array(Self.read.utf8)
    let key = Array("ann".utf8)
    let refused = rejection(bytes: framed, key: key)
    #expect(refused?.code == .invalidJSON)
    #expect(
      refused?.message.contains("schema id 258") == true
        && refused?.message.contains("--schema-registry-frame skip") == true,
      "\(refused?.message ?? "accepted")")
    let skipping = IngestPipeline.rules { $0.frame = .skip }
    #expect(rejection(bytes: framed, key: key, rules: skipping) == nil)
    #expect(rejection(bytes: Array(Self.read.utf8), key: key, rules: skipping) == nil)
    // Avro behind it is still no JSON, and too little is no frame.
    #expect(rejection(bytes: [0, 0, 0, 1, 2, 0x48, 6], key: key, rules: skipping)?.code == .invalidJSON)
    #expect(rejection(bytes: [0, 0, 0, 1], key: key)?.message.contains("schema id") == false)
  }

  @Test("M5: what is refused stops nothing: the next record is processed")
  func partitionGoesOn() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben"])
    let key = Array("c".utf8)
    for bytes: [UInt8]? in [nil, [], [0xff], Array("{}".utf8), Array("[[[".utf8)] {
      #expect(pipeline.driver.send(bytes: bytes, to: .chatEvents, key: key).rejection != nil)
      #expect(try pipeline.recipients(pipeline.message(from: "ann")) == ["ben"])
    }
  }

  @Test("M5: bytes changed at random are processed or refused with a reason of the catalogue, never as our defect")
  func randomDamage() throws {
    var random = SeededGenerator(announcedFor: "randomDamage")
    let seed = random.seed
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben"])
    let message = """
      {"schemaVersion":1,"type":"message.created","eventId":"e1","occurredAt":\(IngestPipeline.start),\
      "conversationId":"c","messageId":"m","senderId":"ann","text":"h\\u00e9llo \u{1F98A}","mentions":["ben"],\
      "attachments":[{"kind":"image"}],"conversation":{"kind":"group","members":[{"userId":"ann","displayName":"A"}]}}
      """
    for _ in 0..<2_000 {
      var bytes = Array(message.utf8)
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        default: bytes.removeSubrange(place..<min(bytes.count, place + 20))
        }
        if bytes.isEmpty { break }
      }
      let result = pipeline.driver.send(bytes: bytes, to: .chatEvents, key: Array("c".utf8))
      #expect(result.rejection?.code != .internal, "seed \(seed): \(result.rejection?.message ?? "")")
    }
  }

  @Test("T4: no reason repeats a text, a token or a name")
  func reasonsAreSilent() {
    let secret = "s3cr3t"
    let damaged = [
      "{\"schemaVersion\":1,\"type\":\"\(secret)\",\"eventId\":\"e\",\"occurredAt\":1}",
      "{\"schemaVersion\":1,\"type\":\"device.registered\",\"eventId\":\"e\",\"occurredAt\":1,\"userId\":\"ann\","
        + "\"deviceId\":\"d\",\"token\":\"\(secret)\",\"platform\":\"\(secret)\"}",
      "{\"schemaVersion\":1,\"type\":\"device.registered\",\"eventId\":\"e\",\"occurredAt\":1,\"userId\":\"\(secret)\","
        + "\"deviceId\":\"d\",\"token\":\"\(secret)\",\"platform\":\"ios\"}",
      "{\"schemaVersion\":1,\"type\":\"device.registered\",\"eventId\":\"e\",\"occurredAt\":1,\"userId\":\"ann\","
        + "\"deviceId\":\"d\",\"token\":\"\(secret)\\u0001\",\"platform\":\"ios\"}",
      "{\"token\": \"\(secret)\" \(secret)", "{\"token\": \"\(secret)\\q\"}",
    ]
    for json in damaged {
      let rejection = rejection(json)
      #expect(rejection != nil)
      #expect(rejection?.description.contains(secret) == false)
    }
  }
}
