import NudgeCommands
import NudgeSchema
import ServiceKit

/// A run at one moment, as text. A value: the same counts give the same lines.
struct PipelineView {
  /// The phase of a run.
  enum Act: String {
    case introducing = "introducing everybody's devices"
    case playing
    case settling = "waiting until everything is accounted for"
    case ending = "stopping the services"
    case done
  }

  var title = "nudge demo"
  let act: Act
  let brokerName: String
  let elapsed: Duration
  let duration: Duration
  let rate: Double
  let load: EventPublisher.Progress
  let ledger: DeliveryLedger
  let processes: [(name: String, isReady: Bool)]

  // MARK: Lines

  /// One line, for output that cannot be redrawn.
  var line: String {
    let messages = "\(Self.grouped(load.messages)) messages (\(Self.rate(load.messages, elapsed))/s)"
    return
      "\(Self.seconds(elapsed))  \(messages)  \(Self.grouped(ledger.candidates)) candidates  "
      + "\(Self.grouped(ledger.decisions)) decisions (\(Self.grouped(notified)) notify)  \(Self.grouped(ledger.pushes)) pushes  "
      + "\(Self.grouped(ledger.outcomesByResult[.sent] ?? 0)) sent  \(latency)"
      + (act == .playing ? "" : "  [\(act.rawValue)]")
  }

  func lines(_ paint: Paint) -> [String] {
    var lines = [
      paint.bold(title) + "  \(brokerName)  "
        + (act == .playing ? progress(paint) : paint.dim(act.rawValue)),
      "",
      row(
        "events", load.acknowledged, "\(Self.grouped(load.messages)) messages, \(Self.rate(load.messages, elapsed))/s"),
      row("candidates", ledger.candidates, "\(Self.rate(ledger.candidates, elapsed))/s"),
      row(
        "decisions", ledger.decisions,
        "\(Self.grouped(notified)) notify, \(Self.grouped(ledger.decisions - notified)) suppress"
          + (ledger.deferred > 0 ? ", \(Self.grouped(ledger.deferred)) more deferred" : "")),
    ]
    let most = max(ledger.decisionsByReason.values.max() ?? 1, 1)
    for (reason, count) in ledger.decisionsByReason.sorted(by: {
      ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue)
    }) {
      let bar = String(repeating: "▇", count: max(1, count * 24 / most))
      lines.append(
        "    " + reason.rawValue.padded(to: 24) + Self.grouped(count).alignedRight(in: 9) + "  "
          + (reason.notifies ? paint.green(bar) : paint.dim(bar)))
    }
    lines.append(
      row(
        "pushes", ledger.pushes, "to \(Self.grouped(ledger.targets)) devices, \(Self.rate(ledger.pushes, elapsed))/s"
      ))
    let results = OutcomeResult.allCases.compactMap { result in
      ledger.outcomesByResult[result].map { "\(Self.grouped($0)) \(result.rawValue)" }
    }
    lines.append(row("outcomes", ledger.outcomes, results.joined(separator: ", ")))
    lines.append(row("banners", ledger.banners, ""))
    if !ledger.deadLetters.isEmpty {
      let codes = ledger.deadLetters.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
      lines.append(
        paint.red(row("dead letters", ledger.deadLetters.values.reduce(0, +), codes.joined(separator: ", "))))
    }
    lines.append("  " + "latency".padded(to: 12) + "  " + latency)
    if !processes.isEmpty {
      lines.append(
        "  " + "processes".padded(to: 12) + "  "
          + processes.map { $0.isReady ? paint.green("●") + " \($0.name)" : paint.red("○") + " \($0.name)" }
          .joined(separator: "  "))
    }
    return lines
  }

  private var notified: Int { ledger.decisionsByReason.filter { $0.key.notifies }.values.reduce(0, +) }

  private var latency: String {
    guard let p50 = ledger.latency.percentile(0.5), let p99 = ledger.latency.percentile(0.99),
      let longest = ledger.latency.maximum
    else { return "no push yet" }
    return "p50 \(p50) ms, p99 \(p99) ms, max \(longest) ms"
  }

  private func progress(_ paint: Paint) -> String {
    let part = min(max(elapsed.seconds / max(duration.seconds, 0.001), 0), 1)
    let done = Int(part * 20)
    return paint.green(String(repeating: "━", count: done)) + paint.dim(String(repeating: "━", count: 20 - done))
      + "  \(Self.seconds(elapsed)) of \(duration.settingText), \(rate.settingText)/s asked"
  }

  private func row(_ name: String, _ count: Int, _ rest: String) -> String {
    "  " + name.padded(to: 12) + Self.grouped(count).alignedRight(in: 11) + (rest.isEmpty ? "" : "  " + rest)
  }

  // MARK: Numbers

  /// The number with separators, such as `1,234,567`.
  static func grouped(_ number: Int) -> String {
    let digits = String(number.magnitude)
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { text += "," }
      text.append(digit)
    }
    return number < 0 ? "-" + text : text
  }

  /// The duration in seconds, such as `12.3s`.
  static func seconds(_ duration: Duration) -> String { tenths(duration.seconds) + "s" }

  /// A count a second, with one decimal.
  static func rate(_ count: Int, _ duration: Duration) -> String {
    duration > .zero ? tenths(Double(count) / duration.seconds) : "0.0"
  }

  private static func tenths(_ number: Double) -> String {
    let tenths = Int((number * 10).rounded())
    return "\(grouped(tenths / 10)).\(tenths % 10)"
  }
}

/// The devices and preferences that a load publishes before its messages, and the number of them that have reached the timeline. Events
/// that a person publishes by hand meanwhile do not count.
struct Introduction: Sendable {
  private var devices: Set<String> = []
  private var people: Set<String> = []
  /// The numbers of devices, and of people with preferences, that were read from the timeline.
  private(set) var seen = (devices: 0, preferences: 0)

  mutating func expectDevice(_ deviceId: String) { devices.insert(deviceId) }
  mutating func expectPreferences(of userId: String) { people.insert(userId) }

  /// Counts a device whose registration has reached the timeline.
  mutating func deviceRegistered(_ deviceId: String) { if devices.remove(deviceId) != nil { seen.devices += 1 } }

  /// Counts a person whose preferences have reached the timeline.
  mutating func preferencesUpdated(_ userId: String) { if people.remove(userId) != nil { seen.preferences += 1 } }
}
