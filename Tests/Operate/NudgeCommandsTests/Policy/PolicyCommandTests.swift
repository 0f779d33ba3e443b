import Analyzer
import Foundation
import NudgeSchema
import ServiceKit
import TestSupport
import Testing

@testable import NudgeCommands

@Suite("nudge policy")
struct PolicyCommandTests {
  private func run(_ arguments: [String]) -> (status: Int32, errors: [String]) {
    var errors: [String] = []
    let status = NudgeCLI().run(arguments, environment: [:], output: { _ in }, errors: { errors.append($0) })
    return (status, errors)
  }

  @Test("D15: check accepts the deployed policy and refuses a field that is not known, with its place")
  func check() throws {
    #expect(run(["policy", "check", Repository.file("Deploy/policy.json").path]).status == 0)
    let folder = try TemporaryDirectory()
    let path = folder.path + "/policy.json"
    try Data(#"{"bursts": {"directSecond": 5}}"#.utf8).write(to: URL(fileURLWithPath: path))
    let refused = run(["policy", "check", path])
    #expect(refused.status != 0)
    #expect(refused.errors.contains { $0.contains(#"bursts: "directSecond" is not known"#) }, "\(refused.errors)")
  }

  @Test("D15: the differences of a policy are named field by field")
  func differences() throws {
    var policy = NotificationPolicy()
    policy.directLevel = .smart
    policy.directBurstSeconds = 0
    let differences = try PolicyDifferences(of: policy).differences
    #expect(
      differences == [
        .init(field: "bursts.directSeconds", standard: "5", value: "0"),
        .init(field: "defaultLevels.direct", standard: "all", value: "smart"),
      ])
    #expect(try PolicyDifferences(of: NotificationPolicy()).differences.isEmpty)
  }

  @Test("--policy and --simple-rules together are refused by every command that takes them")
  func both() throws {
    let policy = Repository.file("Deploy/policy.json").path
    let refused = run(["policy", "show", "--policy", policy, "--simple-rules", policy])
    #expect(refused.status != 0 && refused.errors.contains { $0.contains("give one") }, "\(refused.errors)")
  }
}
