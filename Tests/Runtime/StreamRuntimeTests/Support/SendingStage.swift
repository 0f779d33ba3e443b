import NudgeSchema

@testable import StreamRuntime

/// The effect of a `SendingStage`: a record sent to the outside.
struct SendingRequest: Sendable, Hashable {
  var task: Int32
  /// The lane.
  var key: String
  /// The offset of the record.
  var origin: Int64
  /// Counts the requests for this record, as far as the lane knows of them.
  var attempt: Int
}

/// The reply to a request.
struct SendingReply: Sendable {
  /// As the outside counts requests.
  var number: Int
  var request: SendingRequest
  /// False: busy, to be sent again later.
  var isAccepted: Bool
}

/// A small dispatcher: a lane for each key, one request at a time, a lane row written with each request, and one outcome for each
/// record.
///
/// Unlike the dispatcher, it does not number its requests. It trusts the runtime that a reply belongs to this epoch of the task,
/// which is what simulation checks.
struct SendingStage: Stage {
  /// The waiting records of a key. The first one is in flight or sent next.
  struct Row: StateRow, Equatable {
    var waiting: [Int64]
    /// Requests for the first.
    var attempts = 0
    /// The first is not sent before this time, where nobody waits for an answer.
    var notBefore: Milliseconds = 0

    init(waiting: [Int64]) { self.waiting = waiting }

    init(key: RowKey, bytes: UnsafeRawBufferPointer, coder: RecordCoder) throws {
      let numbers = bytes.split(separator: UInt8(ascii: " ")).compactMap { Int64(String(decoding: $0, as: UTF8.self)) }
      guard numbers.count > 2 else { throw StoreFailure(operation: "read a row", reason: "no lane") }
      attempts = Int(numbers[0])
      notBefore = numbers[1]
      waiting = Array(numbers[2...])
    }

    func encoded(coder: RecordCoder, at level: FormatLevel) throws -> [UInt8] {
      Array(([Int64(attempts), notBefore] + waiting).map { String($0) }.joined(separator: " ").utf8)
    }
  }

  /// After this long without an answer a request counts as lost, as the dispatcher has it.
  static let unansweredAfter: Milliseconds = 25_000
  /// How long to wait after a busy answer, in milliseconds.
  static let busyWait: Milliseconds = 300

  static let definition = StageDefinition(
    name: "sending", inputs: [.pushes], outputs: [.outcomes], changelog: .dispatcherState,
    handsOver: true)

  /// Notes every answer taken and every request. It decides nothing.
  let ledger: EffectLedger?
  /// The process, for the ledger.
  let process: String
  /// The lanes that wait for an answer, by task.
  private var flights: [Int32: [String: SendingRequest]] = [:]

  init(ledger: EffectLedger? = nil, process: String = "") {
    self.ledger = ledger
    self.process = process
  }

  private static let lanes = RowKey("lane")
  private static func lane(_ key: String) -> RowKey { RowKey("lane", key) }

  mutating func open(in step: Step<Self>) throws {
    flights[step.partition] = [:]
    try wake(in: step)
  }

  mutating func wake(in step: Step<Self>) throws {
    for (key, _) in try step.rows(below: Self.lanes) { try advance(key.parts[1], in: step) }
  }

  mutating func close(partition: Int32) { flights[partition] = nil }

  mutating func process(_ record: InputRecord, in step: Step<Self>) throws {
    guard let bytes = record.key else { throw Rejection(.missingKey, "no key") }
    let key = String(decoding: bytes, as: UTF8.self)
    var row = try step.row(Self.lane(key)) ?? Row(waiting: [])
    row.waiting.append(record.offset)
    try step.set(row, for: Self.lane(key))
    try advance(key, in: step)
  }

  mutating func receive(_ reply: SendingReply, in step: Step<Self>) throws {
    let key = reply.request.key
    guard flights[step.partition]?[key] == reply.request, var row = try step.row(Self.lane(key)) else { return }
    flights[step.partition]?[key] = nil
    ledger?.received(reply, by: process)
    if reply.isAccepted {
      row.waiting.removeFirst()
      try step.emit(
        bytes: Array("\(row.attempts) \(reply.request.origin)".utf8), to: .outcomes, key: key, partition: step.partition
      )
      row.attempts = 0
      row.notBefore = 0
    } else {
      row.notBefore = step.now + Self.busyWait
    }
    if row.waiting.isEmpty {
      try step.remove(Self.lane(key))
    } else {
      try step.set(row, for: Self.lane(key))
      try advance(key, in: step)
    }
  }

  mutating func effectCancelled(_ effect: SendingRequest, in step: Step<Self>) throws {
    guard flights[step.partition]?.removeValue(forKey: effect.key) != nil,
      var row = try step.row(Self.lane(effect.key))
    else { return }
    row.attempts -= 1
    row.notBefore = 0
    try step.set(row, for: Self.lane(effect.key))
  }

  mutating func replyIsHere(to effect: EffectTicket, in step: Step<Self>) throws {
    let parts = effect.effect.parts
    guard flights[step.partition]?[parts[1]] == nil, var row = try step.row(Self.lane(parts[1])),
      row.waiting.first == Int64(parts[2]), row.attempts == effect.attempt
    else { return }
    row.notBefore = 0
    try step.set(row, for: Self.lane(parts[1]))
    try advance(parts[1], in: step)
  }

  static func ticket(for effect: SendingRequest) -> EffectTicket? {
    EffectTicket(RowKey("send", effect.key, String(effect.origin)), attempt: effect.attempt)
  }

  static func reply(_ reply: SendingReply, to sent: EffectTicket, asReplyTo effect: SendingRequest) -> SendingReply? {
    guard reply.isAccepted else { return nil }
    return SendingReply(number: reply.number, request: effect, isAccepted: true)
  }

  /// The first byte of the value of a record that hands over an answer.
  private static let handoverMark = UInt8(ascii: "h")
  static func isHandover(_ value: [UInt8]?) -> Bool { value?.first == handoverMark }

  static func handover(of known: HandedOver<SendingReply>, now: Milliseconds) throws -> (key: [UInt8], value: [UInt8])?
  {
    let parts = known.ticket.effect.parts
    let answer = known.reply.map { "\($0.number) \($0.isAccepted ? 1 : 0) \($0.request.task)" } ?? ""
    return (Array(parts[1].utf8), Array("h \(parts[2]) \(known.ticket.attempt) \(answer)".utf8))
  }

  static func handedOver(_ record: InputRecord) throws -> HandedOver<SendingReply> {
    guard let known = handedOver(record.value, key: record.key) else {
      throw Rejection(.schemaViolation, "no handover")
    }
    return known
  }

  static func handedOver(_ value: [UInt8]?, key: [UInt8]?) -> HandedOver<SendingReply>? {
    let key = String(decoding: key ?? [], as: UTF8.self)
    let numbers = (value ?? []).dropFirst().split(separator: UInt8(ascii: " "))
      .compactMap { Int64(String(decoding: $0, as: UTF8.self)) }
    guard numbers.count == 2 || numbers.count == 5 else { return nil }
    let attempt = Int(numbers[1])
    let ticket = EffectTicket(RowKey("send", key, String(numbers[0])), attempt: attempt)
    guard numbers.count == 5 else { return HandedOver(ticket, reply: nil) }
    let request = SendingRequest(task: Int32(numbers[4]), key: key, origin: numbers[0], attempt: attempt)
    return HandedOver(
      ticket, reply: SendingReply(number: Int(numbers[2]), request: request, isAccepted: numbers[3] == 1),
      decides: numbers[3] == 1)
  }

  /// Sends the first record of a lane, unless it is in flight or must wait.
  private mutating func advance(_ key: String, in step: Step<Self>) throws {
    guard flights[step.partition]?[key] == nil, var row = try step.row(Self.lane(key)), let first = row.waiting.first
    else { return }
    guard row.notBefore <= step.now else { return step.wake(at: row.notBefore) }
    row.attempts += 1
    row.notBefore = step.now + Self.unansweredAfter
    try step.set(row, for: Self.lane(key))
    let request = SendingRequest(task: step.partition, key: key, origin: first, attempt: row.attempts)
    flights[step.partition, default: [:]][key] = request
    ledger?.asked(request, by: process, at: step.now)
    step.perform(request)
  }
}
