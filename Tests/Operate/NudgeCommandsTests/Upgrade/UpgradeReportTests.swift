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
