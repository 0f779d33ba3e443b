import Foundation
import Ingest
import KafkaTransactions
import NudgeSchema
import StreamRuntime
import Testing

@testable import NudgeCommands

@Suite("nudge topics manifests --strimzi")
struct StrimziManifestsTests {
  private func manifests(prefix: String = "") -> StrimziManifests {
    StrimziManifests(
      names: TopicNames(prefix: prefix), cluster: "production", namespace: "kafka", partitions: 24,
      replicationFactor: 3,
      api: "v1", authentication: "tls")
  }

  @Test("each topic has its plan, whatever its name")
  func topics() throws {
    let objects = manifests(prefix: "Chat_1.").objects.filter { $0["kind"]?.string == "KafkaTopic" }
    #expect(objects.count == Topic.allCases.count)
    for (object, plan) in zip(objects, TopicPlan.all) {
      let spec = try #require(object["spec"])
      #expect(spec["topicName"]?.string == "Chat_1.\(plan.topic.rawValue)")
      #expect(spec["partitions"]?.integer == 24 && spec["replicas"]?.integer == 3)
      #expect(spec["config"]?.fields.mapValues { $0.string ?? "" } == plan.configuration)
      let metadata = try #require(object["metadata"])
      #expect(metadata["name"]?.string == "chat-1.\(plan.topic.rawValue)")
      #expect(metadata["labels"]?["strimzi.io/cluster"]?.string == "production")
    }
  }

  @Test("each user has the rules that nudge doctor asks for")
  func users() throws {
    let objects = manifests().objects.filter { $0["kind"]?.string == "KafkaUser" }
    #expect(
      objects.compactMap { $0["metadata"]?["name"]?.string } == DoctorRole.allCases.map { "nudge-\($0.rawValue)" })
    for (object, role) in zip(objects, DoctorRole.allCases) {
      var allowed: [String: Set<String>] = [:]
      for acl in object["spec"]?["authorization"]?["acls"]?.elements ?? [] {
        let resource = try #require(acl["resource"])
        let name =
          "\(resource["type"]?.string ?? "") \(resource["patternType"]?.string ?? "") \(resource["name"]?.string ?? "")"
        allowed[name, default: []].formUnion(acl["operations"]?.elements.compactMap(\.string) ?? [])
      }
      for rule in role.rules(TopicNames()) {
        let name =
          switch rule.resource {
          case .topic(let name): "topic literal \(name)"
          case .group(let name): "group literal \(name)"
          case .transactionalIDs(let prefix): "transactionalId prefix \(prefix)"
          }
        #expect(allowed[name]?.isSuperset(of: rule.operations.map(\.rawValue)) == true, "\(role): \(name)")
      }
      // Nothing beyond them, but what ingest's HTTP API reads.
      if role != .ingest { #expect(allowed.count == Set(role.rules(TopicNames()).map { "\($0.resource)" }).count) }
      #expect(object["spec"]?["authentication"]?["type"]?.string == "tls")
    }
  }

  @Test("the YAML says what the objects say")
  func yaml() throws {
    let lines = manifests().yaml.split(separator: "\n").map(String.init)
    #expect(lines.filter { $0 == "---" }.count == Topic.allCases.count + DoctorRole.allCases.count)
    #expect(lines.prefix(4) == ["---", #"apiVersion: "kafka.strimzi.io/v1""#, #"kind: "KafkaTopic""#, "metadata:"])
    let python = ["/usr/bin/python3", "/usr/local/bin/python3"].first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
    guard let python else { return }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: python)
    process.arguments = [
      "-c",
      "import sys, json\ntry:\n import yaml\nexcept ImportError:\n sys.exit(9)\nprint(json.dumps(list(yaml.safe_load_all(sys.stdin))))",
    ]
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    input.fileHandleForWriting.write(Data(manifests().yaml.utf8))
    try input.fileHandleForWriting.close()
    let read = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    // Without PyYAML nothing is compared.
    guard process.terminationStatus != 9 else { return }
    #expect(try JSONValue([UInt8](read)) == .array(manifests().objects))
  }
}
