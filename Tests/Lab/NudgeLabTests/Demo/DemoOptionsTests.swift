import Synchronization
import TestSupport
import Testing

@testable import NudgeCommands
@testable import NudgeLab

@Suite("nudge demo: options")
struct DemoOptionsTests {
  private func run(_ arguments: String...) -> (status: Int32, errors: String) {
    let errors = Mutex("")
    let status = NudgeCLI(adding: LabCommands.all).run(
      ["demo"] + arguments, environment: [:], output: { _ in }, errors: { text in errors.withLock { $0 += text } })
    return (status, errors.withLock { $0 })
  }

  @Test("kills are rejected on the embedded broker, with the fix")
  func killOnEmbedded() {
    let (status, errors) = run("--kill", "analyzer@10s")
    #expect(status == 64)
    #expect(errors.contains("--kafka-home"))
  }

  @Test("a rate too high for the embedded broker is rejected, with the highest possible")
  func rateOnEmbedded() {
    let (status, errors) = run("--rate", "5000")
    #expect(status == 64)
    #expect(errors.contains("Use at most --rate"))
  }

  @Test("a longer demo has more people, so that no device reaches FCM's limit of an hour")
  func groups() {
    #expect(GeneratedChatLog.groups(rate: 50, duration: .seconds(20)) == 50)
    #expect(GeneratedChatLog.groups(rate: 0.5, duration: .seconds(20)) == GeneratedChatLog.defaultGroups)
    #expect(GeneratedChatLog.groups(rate: 100, duration: .seconds(1_500)) == 300)
  }

  @Test("a folder without Kafka is rejected before anything starts, with what is missing there")
  func kafkaHome() throws {
    let folder = try TemporaryDirectory()
    for (home, reason) in [
      ("/nope", "/nope does not exist"),
      (folder.path, "\(folder.path) is not a Kafka distribution: it has no bin/kafka-server-start.sh"),
    ] {
      let (status, errors) = run("--kafka-home", home)
      #expect(status == 64)
      #expect(errors.hasPrefix("nudge demo: --kafka-home: \(reason). Give the folder of an unpacked Kafka"))
    }
  }

  @Test("a broker's port that does not exist is rejected")
  func brokerPort() {
    #expect(run("--bootstrap-servers", "127.0.0.1:99999").errors.contains("use a port from 1 to 65535"))
  }

  @Test("two brokers at once are rejected")
  func twoBrokers() {
    let (status, errors) = run("--kafka-home", "/k", "--bootstrap-servers", "b:9092")
    #expect(status == 64)
    #expect(errors.contains("give one of them"))
  }

  @Test("kills are repeated flags or separated by commas")
  func killPlan() throws {
    var plan = try KillPlan.parse("analyzer@10s,ingest@1m30s")
    plan.merge(try KillPlan.parse("dispatcher@250ms"))
    #expect(plan.kills.map(\.program) == [.analyzer, .ingest, .dispatcher])
    #expect(plan.kills.map(\.after) == [.seconds(10), .seconds(90), .milliseconds(250)])
    #expect(try KillPlan.parse(plan.settingText) == plan)
  }

  @Test(
    "a kill without a service, or of another program, is rejected",
    arguments: ["emulator@1s", "analyzer", "analyzer@", "@1s", "analyzer@1s@2s"])
  func wrongKills(text: String) {
    #expect(throws: (any Error).self) { try KillPlan.parse(text) }
  }
}
