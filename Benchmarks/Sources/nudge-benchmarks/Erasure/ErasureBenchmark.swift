import Foundation
import Ingest
import NudgeSchema
import ServiceKit
import StreamRuntime

/// Measures how deleted people are taken out of a task's conversations, without Kafka: steps of ingest, one after the other, on rows in memory.
enum ErasureBenchmark: Benchmark {
  static let name = "erasure"
  static let abstract =
    "deletions that wait for one task of ingest: steps, CPU, and how long they take with the pauses between steps"
  static let needsKafka = false

  private static let start: Milliseconds = 1_800_000_000_000
  private static let membersOfAGroup = 100
  private static let groupsOfAPerson = 10

  static func run(_ context: BenchmarkContext) throws {
    let people = context.options.people
    for deletions in [1, min(context.options.deletions, people)] {
      try run(context.report, people: people, deletions: deletions)
    }
  }

  private static func run(_ report: Report, people: Int, deletions: Int) throws {
    let rules = IngestRules(hash: { TokenHash.of($0) })
    let driver = StageDriver(IngestStage(rules), now: start)
    let groups = max(1, people * groupsOfAPerson / membersOfAGroup)
    var events = 0
    func envelope() -> Envelope {
      events += 1
      return Envelope(eventId: "event-\(events)", occurredAt: driver.now)
    }
    var members = 0
    for group in 0..<groups {
      var people = Set((0..<membersOfAGroup).map { ($0 * 7_919 + group * 104_729) % people })
      people.insert(group % people.count)
      members += people.count
      let updated = ConversationUpdated(
        conversationId: "group-\(group)", kind: .group, name: "Group",
        members: people.sorted().map { Member(userId: "person-\($0)", displayName: "Name \($0)") })
      _ = try driver.send(
        ChatEvent(envelope(), .conversationUpdated(updated)), to: .chatEvents, key: updated.conversationId)
      if group % 100 == 0 { try driver.commit() }
    }
    try driver.commit()
    driver.now += 1_000
    for person in 0..<deletions {
      let deleted = UserEvent(envelope(), .deleted(UserDeleted(userId: "person-\(person)")))
      _ = driver.sendBack(try driver.send(deleted, to: .userEvents, key: "person-\(person)"))
      if person % 1_000 == 0 { try driver.commit() }
    }
    try driver.commit()

    // Nothing is committed meanwhile: rows in memory are sorted again after each commit that removes some, which a store on disk does not do.
    var steps: [Double] = []
    let cpu = Clocks.processor
    while true {
      let began = Clocks.steady
      let woken = driver.wake()
      steps.append((Clocks.steady - began) * 1e3)
      driver.now += rules.fanOutPause
      if woken.wakeAt == nil { break }
    }
    let taken = steps.reduce(0) { $0 + max($1, Double(rules.fanOutPause)) } / 1e3
    let left = try driver.rows(below: RowKey("y")).count
    guard left == 0 else { throw BenchmarkFailure("\(left) deletions are left") }
    report.row(
      "\(deletions) of \(people) people, \(members) members",
      [
        .init(name: "steps", value: Double(steps.count), unit: ""),
        .init(name: "until all are done", value: taken, unit: "s", target: "minutes"),
        .init(name: "CPU", value: Clocks.processor - cpu, unit: "s"),
        .init(name: "p99 of a step", value: Samples(steps).quantile(0.99), unit: "ms"),
        .init(name: "longest step", value: steps.max() ?? 0, unit: "ms"),
      ])
  }
}
