import NudgeSchema
import Testing

@testable import NudgeCommands
@testable import StreamRuntime

@Suite("nudge upgrade")
struct UpgradeReportTests {
  private let history = [
    FormatLevel.Entry(.first, release: "0.3.0", adds: "all of 0.3.0"),
    FormatLevel.Entry(FormatLevel(2), release: "0.4.0", adds: "rooms"),
  ]

  private func report(
    _ levels: [Int32], members: [(name: String, release: MemberRelease?)], trustsUnseen: Bool = false
  ) -> UpgradeReport {
    let finding = LevelSurvey.Finding(
      levels: Dictionary(uniqueKeysWithValues: levels.enumerated().map { (Int32($0.offset), FormatLevel($0.element)) }),
      tasks: Int32(levels.count) + 1, members: members.map { .init(name: $0.name, release: $0.release) })
    return UpgradeReport(
      [(.analyzer, finding)], latest: FormatLevel(2), history: history, trustsUnseen: trustsUnseen)
  }

  private let new = MemberRelease(version: "0.4.0", latestLevel: FormatLevel(2))

  @Test("it can be finalised once every member knows the level, and says what that ends")
  func ready() {
    let report = report([1, 1, 2], members: [("a at /10.0.0.1", new), ("b at /10.0.0.2", new)])
    #expect(report.level == 1 && report.latest == 2 && !report.isDone && report.obstacles == [])
    #expect(report.stages[0].tasks == ["1": 2, "2": 1] && report.stages[0].neverRan == 1)
    #expect(report.stages[0].members == ["0.4.0, which knows level 2": 2])
    #expect(report.ends.count == 1 && report.ends[0].contains("before 0.4.0") && report.ends[0].contains("rooms"))
    #expect(report.text.contains("To finalise: nudge upgrade finalize --yes"))
    let finding = DoctorChecks.levels(report)
    #expect(finding.weight == .notice && finding.text.contains("level 1 is in force"))
  }

  @Test(
    "a member of a release that does not know the level keeps it from being finalised, whoever it is",
    arguments: [
      MemberRelease(version: "0.3.0", latestLevel: .first), MemberRelease(version: "0.3.0-pre", latestLevel: nil),
      MemberRelease(version: nil, latestLevel: nil),
    ])
  func olderMember(_ release: MemberRelease) {
    let report = report([1], members: [("a at /10.0.0.1", new), ("b at /10.0.0.2", release)], trustsUnseen: true)
    #expect(report.obstacles.count == 1 && report.obstacles[0].contains("b at /10.0.0.2"))
    #expect(!report.text.contains("To finalise"))
  }

  @Test("a member that cannot be seen keeps it too, until the operator answers for it")
  func unseen() {
    let members: [(name: String, release: MemberRelease?)] = [("a at /10.0.0.1", new), ("ours at /10.0.0.2", nil)]
    #expect(report([1], members: members).obstacles.count == 1)
    #expect(report([1], members: members, trustsUnseen: true).obstacles == [])
  }

  @Test("the release of a named member is what its tasks say, whatever its client.id: Kafka keeps the first one")
  func named() {
    func report(_ known: [Int32: FormatLevel], _ members: [LevelSurvey.Finding.Member]) -> UpgradeReport {
      let finding = LevelSurvey.Finding(
        levels: known.mapValues { _ in .first }, known: known, tasks: 3, members: members)
      return UpgradeReport([(.analyzer, finding)], latest: FormatLevel(2), history: history)
    }
    let former = MemberRelease(version: "0.3.0", latestLevel: .first)
    let stale = LevelSurvey.Finding.Member(name: "a at /10.0.0.1", release: former, isStatic: true)
    let ready = report([0: FormatLevel(2), 1: FormatLevel(2)], [stale, stale])
    #expect(ready.obstacles == [] && ready.stages[0].members == [:] && ready.stages[0].named == 2)
    #expect(ready.text.contains("2 named members, tasks run 2 by a release that knows level 2"))
    #expect(ready.releases == ["a release that knows level 2"])
    // The other way round, after a rollback: the name is that of the later release.
    let renamed = LevelSurvey.Finding.Member(name: "a at /10.0.0.1", release: new, isStatic: true)
    let back = report([0: FormatLevel(2), 1: .first], [renamed])
    #expect(back.obstacles == ["analyzer: a release that knows level 1 runs task 1: upgrade it first"])
    // A dynamic member beside it is judged by its name, and stopped processes hold up nobody.
    let dynamic = LevelSurvey.Finding.Member(name: "b at /10.0.0.2", release: former)
    #expect(report([0: FormatLevel(2)], [stale, dynamic]).obstacles.count == 1)
    #expect(report([0: .first], []).obstacles == [])
  }

  @Test("with all tasks at the latest level there is nothing to do; tasks that never ran count as nothing")
  func done() {
    let finished = report([2, 2], members: [])
    #expect(finished.isDone && finished.ends == [] && finished.text.contains("nothing to finalise"))
    #expect(DoctorChecks.levels(finished).weight == .good)
    let beyond = report([3, 3], members: [])
    #expect(beyond.text.contains("knows levels up to 2") && DoctorChecks.levels(beyond).weight == .problem)
  }

  @Test("a finalised level is a record for each task on the stage's input that only Nudge writes")
  func records() {
    for (stage, topic) in [
      (StageName.ingest, Topic.deviceClaims), (.analyzer, .timeline), (.dispatcher, .pushes),
    ] {
      let records = LevelSurvey.records(finalising: FormatLevel(2), stage.definition, tasks: 3)
      #expect(records.map(\.topic) == [topic, topic, topic] && records.map(\.partition) == [0, 1, 2])
      #expect(records.allSatisfy { $0.headers.count == 1 && $0.headers[0].value == Array("2".utf8) })
    }
  }
}
