import ServiceKit

/// The services to kill and their times, such as `analyzer@10s`.
struct KillPlan: SettingValue, Equatable {
  struct Kill: Sendable, Equatable {
    let program: DemoProgram
    /// The time since the first message.
    let after: Duration
  }

  /// The kills in the order of the command line.
  var kills: [Kill] = []

  /// Parses one kill, or several separated by commas.
  static func parse(_ text: String) throws(SettingValueError) -> KillPlan {
    let names = DemoProgram.services.map(\.shortName)
    var plan = KillPlan()
    for part in text.split(separator: ",") {
      let halves = part.split(separator: "@", omittingEmptySubsequences: false).map(String.init)
      guard halves.count == 2, let program = DemoProgram.services.first(where: { $0.shortName == halves[0] }) else {
        throw SettingValueError(
          allowed: "SERVICE@TIME such as analyzer@10s, with one of \(names.joined(separator: ", "))")
      }
      plan.kills.append(Kill(program: program, after: try Duration.parse(halves[1])))
    }
    return plan
  }

  /// The plan as text, such as `analyzer@10s,ingest@20s`.
  var settingText: String {
    kills.map { "\($0.program.shortName)@\($0.after.settingText)" }.joined(separator: ",")
  }
  static var placeholder: String { "SERVICE@TIME" }
  mutating func merge(_ later: KillPlan) { kills += later.kills }
  static var isRepeated: Bool { true }
}
