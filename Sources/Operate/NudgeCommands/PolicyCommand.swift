import Analyzer
import Foundation
import NudgeSchema
import ServiceKit

enum PolicyCommand {
  private static let file = PositionalArgument(
    "file", help: "JSON file with a policy, as nudge-analyzer --policy takes it.", count: .one)

  private static let json = CommandOutput.json

  static let command = Command(
    "policy",
    abstract: "Checks and prints the operator's policy.",
    subcommands: [check, show])

  private static let check = Command(
    "check", abstract: "Checks a policy file; prints its version and its differences from the defaults.",
    settings: [json], arguments: [file], examples: ["nudge policy check policy.json"]
  ) { input in
    let path = input.argument("file") ?? ""
    let bytes = try FileContent.read(path)
    do {
      let policy = try NotificationPolicy(json: bytes)
      let differences = try PolicyDifferences(of: policy)
      if input[json] {
        try CommandOutput.print(fields: ["version": version(policy), "differences": differences.differences])
      } else {
        print("version \(version(policy)): it can be used")
        print(differences.text)
      }
    } catch let error as PolicyError {
      throw CommandError("\(path): \(error)")
    }
    return ExitCode.success
  }

  private static let show = Command(
    "show",
    abstract: "Prints the whole policy, with defaults, as a policy file.",
    discussion: "Its version goes to standard error.",
    settings: [ServiceSettings.freshness] + AnalyzerSettings.all,
    examples: ["nudge policy show > policy.json", "nudge policy show --policy policy.json"]
  ) { input in
    let policy = try AnalyzerSettings.rules(from: input.values).policy
    CommandOutput.report("version \(version(policy))")
    print(String(decoding: policy.json(pretty: true), as: UTF8.self))
    return ExitCode.success
  }

  /// The version that decisions contain for a policy.
  static func version(_ policy: NotificationPolicy) -> String {
    PolicyVersion(policy, hash: { SHA256Digest.of($0) }).version
  }
}

/// The differences of a policy from the default, field by field.
struct PolicyDifferences: Equatable {
  /// A field, such as `bursts.directSeconds`, with both values as JSON.
  struct Difference: Encodable, Equatable {
    let field: String
    let standard: String
    let value: String
  }
  private(set) var differences: [Difference] = []

  init(of policy: NotificationPolicy, from standard: NotificationPolicy = NotificationPolicy()) throws {
    compare(try JSONValue(standard.json(pretty: false)), try JSONValue(policy.json(pretty: false)), "")
  }

  private mutating func compare(_ standard: JSONValue, _ value: JSONValue, _ path: String) {
    guard standard != value else { return }
    guard case .object = standard, case .object = value else {
      differences.append(Difference(field: path, standard: standard.shown, value: value.shown))
      return
    }
    for name in Set(standard.fields.keys).union(value.fields.keys).sorted() {
      let place = path.isEmpty ? name : "\(path).\(name)"
      switch (standard[name], value[name]) {
      case (let standard?, let value?): compare(standard, value, place)
      case (let standard, let value):
        differences.append(
          Difference(field: place, standard: standard?.shown ?? "none", value: value?.shown ?? "none"))
      }
    }
  }

  /// The differences as text, one line per field.
  var text: String {
    guard !differences.isEmpty else { return "It is the default policy." }
    return differences.map { "    \($0.field): \($0.value) (default \($0.standard))" }.joined(separator: "\n")
  }
}
