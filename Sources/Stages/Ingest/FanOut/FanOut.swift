import NudgeCodec
import NudgeSchema
import StreamRuntime

/// A fan-out during a step: writes its row's event to the next members of the conversation, and remembers how far it came.
///
/// All steps together write the same records as one large step: each member gets the event once, in the conversation's order, with the
/// origin of the event that started the fan-out.
struct FanOut {
  let key: RowKey
  private(set) var row: FanOutRow
  private let step: Step<IngestStage>
  private let event: TimelineEvent
  private var timeline: TimelineWriter
  /// Contexts of the recipients who have one.
  private var told: [ExactText: RecipientContext] = [:]
  private let passedOver: Set<ExactText>
  /// The message's text, where the names of the members that are served are yet to be searched in it.
  private var text: SearchedText?

  /// The fan-out of a row; nil: it has come to its end.
  init?(_ key: RowKey, _ codec: RecordCodec, searchesNames: Bool, in step: Step<IngestStage>) throws {
    guard case .fanOut(let row)? = try step.row(key) else { return nil }
    self.key = key
    self.row = row
    self.step = step
    let bytes = Array(row.event.utf8)
    do {
      event = try codec.read(TimelineEvent.self, from: bytes) ?? step.coder.decode(TimelineEvent.self, from: bytes)
    } catch {
      // The event is part of the state: a release that cannot read it must not drop what is left of the fan-out.
      throw StoreFailure(
        operation: "read a fan-out row",
        reason: "this release does not know its event (\(error)): run the release that wrote it, or a later one")
    }
    timeline = TimelineWriter(
      step, codec, envelope: event.envelope, takenAt: event.takenAt, arrivedAt: event.arrivedAt,
      cause: event.origin, source: event.source, firstIndex: row.nextIndex)
    passedOver = Set(row.passedOver.map { ExactText($0) })
    if case .candidate(let candidate) = event.body {
      for recipient in candidate.recipients { told[ExactText(recipient.userId)] = recipient.context }
      if searchesNames { text = SearchedText(candidate.body) }
    }
  }

  /// Whether a person has yet to be served.
  func isAhead(_ userId: String) -> Bool {
    if case .candidate(let candidate) = event.body, sameId(candidate.sender.userId, userId) { return false }
    return (row.after.map { $0.utf8.lexicographicallyPrecedes(userId.utf8) } ?? true)
      && !passedOver.contains(ExactText(userId))
  }

  /// Serves the next members, behind `row.after` in order.
  mutating func serve(_ members: ArraySlice<Roster.Entry>) throws {
    guard let last = members.last else { return }
    try write(to: members.filter { passedOver.isEmpty || !passedOver.contains(ExactText($0.userId)) })
    row.after = last.userId
  }

  /// Serves a person out of turn, because their membership is about to change. With a nil member they are passed over.
  mutating func serveNow(_ userId: String, _ member: Roster.Entry?) throws {
    if let member { try write(to: [member]) }
    row.passedOver.append(userId)
  }

  private mutating func write(to members: [Roster.Entry]) throws {
    try step.inheriting(row.headers.map { RecordHeaderField($0.name, $0.value) }) {
      switch event.body {
      case .candidate(var candidate):
        let recipients = members.filter { !sameId($0.userId, candidate.sender.userId) }.map { member in
          (Recipient(userId: member.userId, context: context(of: member)), partition: member.partition)
        }
        for (partition, chunk) in TimelineWriter.chunks(recipients) {
          candidate.recipients = chunk
          try timeline.write(.candidate(candidate), key: candidate.conversationId, partition: partition)
        }
      case .withdrawn(var withdrawn):
        for (partition, chunk) in TimelineWriter.chunks(members.map { ($0.userId, partition: $0.partition) }) {
          withdrawn.userIds = chunk
          try timeline.write(.withdrawn(withdrawn), key: withdrawn.conversationId, partition: partition)
        }
      default: throw StoreFailure(operation: "read a fan-out", reason: "a \(event.body.type) goes to nobody in steps")
      }
    }
    row.nextIndex = timeline.nextIndex
  }

  private func context(of member: Roster.Entry) -> RecipientContext {
    if !told.isEmpty, let context = told[ExactText(member.userId)] { return context }
    guard let text, let name = text.name(of: member), text.place(of: name) != nil else { return RecipientContext() }
    // As `RecipientContexts` has it of a person without earlier messages.
    return RecipientContext(named: true, exchange: 1)
  }

  /// Everybody has been served: the row goes.
  func end() throws { try step.remove(key) }

  /// Remembers how far it came.
  func save() throws { try step.set(.fanOut(row), for: key) }
}
