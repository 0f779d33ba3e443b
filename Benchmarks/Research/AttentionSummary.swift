import Foundation
import NudgeSchema

/// A setting's cost and what it shows, with intervals that hold 95 of 100 resamples of the logs.
struct AttentionSummary: Encodable {
  let setting: AttentionMeasure.Setting
  let personDays: Int
  /// A person and active day.
  let alertsPerDay: ResampledFigure
  /// How many fewer than without any of it, as a share.
  let fewerAlerts: ResampledFigure
  let meant: Int
  let heardSoon: ResampledFigure
  let seenSoon: ResampledFigure
  let seenThatDay: ResampledFigure
  /// The part of `seenThatDay` that a catch-up was the first to tell.
  let caughtUp: ResampledFigure
  /// Later than the day's catch-up, or never.
  let late: ResampledFigure
  let lateMessages: Int

  /// The summaries of all settings, `off` first.
  static func all(_ measure: AttentionMeasure) -> [AttentionSummary] {
    AttentionMeasure.Setting.allCases.map {
      AttentionSummary($0, measure.logs[$0] ?? [], off: measure.logs[.off] ?? [], seed: measure.seed)
    }
  }

  /// - Parameters:
  ///   - logs: The sums of each log.
  ///   - off: The same without any of it.
  init(
    _ setting: AttentionMeasure.Setting, _ logs: [AttentionMeasure.Sums], off: [AttentionMeasure.Sums], seed: UInt64
  ) {
    typealias Sums = AttentionMeasure.Sums
    self.setting = setting
    // Both of one log, so that a draw has the same logs.
    let pairs = zip(logs, off).map { (own: $0, off: $1) }
    func sum(_ places: [Int]) -> (own: Sums, off: Sums) {
      places.reduce(into: (own: Sums(), off: Sums())) {
        $0.own += pairs[$1].own
        $0.off += pairs[$1].off
      }
    }
    let all = sum(Array(pairs.indices))
    let resampling = Resampling(logs: pairs.count, seed: seed)
    let resamples = resampling.draws.map(sum)
    func share(_ part: Int, _ whole: Int) -> Double { whole == 0 ? 0 : Double(part) / Double(whole) }
    func figure(_ value: ((own: Sums, off: Sums)) -> Double) -> ResampledFigure {
      resampling.figure(all, resamples, value)
    }
    personDays = all.own.days
    meant = all.own.meant
    lateMessages = all.own.late
    alertsPerDay = figure { share($0.own.alerts, $0.own.days) }
    fewerAlerts = figure { $0.off.alerts == 0 ? 0 : 1 - share($0.own.alerts, $0.off.alerts) }
    heardSoon = figure { share($0.own.heard, $0.own.meant) }
    seenSoon = figure { share($0.own.seen, $0.own.meant) }
    seenThatDay = figure { share($0.own.seenThatDay, $0.own.meant) }
    caughtUp = figure { share($0.own.caughtUp, $0.own.meant) }
    late = figure { share($0.own.late, $0.own.meant) }
  }
}

extension ResampledFigure {
  /// The value of a number of alerts: with two decimals where it is small.
  var rounded: String { Self.rounded(value) }

  static func rounded(_ value: Double) -> String { String(format: value < 10 ? "%.2f" : "%.1f", value) }
}

/// A picture of the summaries, as SVG: alerts a day with their intervals, and when people see what was meant for them.
struct AttentionPlot {
  private static let (width, row, top) = (820, 44, 64)
  /// The left edges and widths of the two parts.
  private static let (bars, barWidth, shares, shareWidth) = (220, 170, 490, 300)
  private static let colours = [
    ("with a sound within 10 s", "#1f6feb"), ("shown or read within 10 s", "#2da44e"),
    ("by the day's catch-up", "#bf8700"), ("later or never", "#cf222e"),
  ]

  let title: String
  let summaries: [AttentionSummary]

  var svg: String {
    let height = Self.top + summaries.count * Self.row + 52
    var lines = [
      """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.width) \(height)" font-family="sans-serif" font-size="12">
      <style>text{fill:#24292f}.axis{stroke:#8c959f}@media(prefers-color-scheme:dark){text{fill:#e6edf3}}</style>
      <title>\(title)</title>
      <text x="\(Self.bars)" y="24" font-weight="bold">interruptions a person and active day</text>
      <text x="\(Self.shares)" y="24" font-weight="bold">messages meant for the person</text>
      """
    ]
    // The longest bar leaves room for its number.
    let most = max(summaries.map(\.alertsPerDay.high).max() ?? 1, 0.001)
    for (index, summary) in summaries.enumerated() {
      let y = Self.top + index * Self.row
      lines.append(label(summary.setting.rawValue, x: Self.bars - 10, y: y + 17, anchor: "end"))
      func place(_ value: Double) -> Double { Double(Self.bars) + value / most * Double(Self.barWidth) }
      let alerts = summary.alertsPerDay
      lines.append(rectangle(x: Double(Self.bars), to: place(alerts.value), y: y, "#1f6feb", ""))
      lines.append(
        "<path class=\"axis\" d=\"M\(text(place(alerts.low))) \(y + 12)H\(text(place(alerts.high)))\" "
          + "stroke-width=\"3\"/>")
      lines.append(label(alerts.rounded, x: Int(place(alerts.high)) + 6, y: y + 17, anchor: "start"))
      var left = 0.0
      let heard = min(summary.heardSoon.value, summary.seenSoon.value)
      let parts = [heard, summary.seenSoon.value - heard, summary.seenThatDay.value, summary.late.value]
      for (part, (name, colour)) in zip(parts, Self.colours) where part > 0 {
        let (from, to) = (left * Double(Self.shareWidth), (left + part) * Double(Self.shareWidth))
        lines.append(
          rectangle(
            x: Double(Self.shares) + from, to: Double(Self.shares) + to, y: y, colour, "\(percent(part)) \(name)"))
        left += part
      }
    }
    let below = Self.top + summaries.count * Self.row + 12
    for (index, (name, colour)) in Self.colours.enumerated() {
      let x = 24 + index * 196
      lines.append("<rect x=\"\(x)\" y=\"\(below)\" width=\"12\" height=\"12\" fill=\"\(colour)\"/>")
      lines.append(label(name, x: x + 18, y: below + 11, anchor: "start"))
    }
    return lines.joined(separator: "\n") + "\n</svg>\n"
  }

  private func text(_ value: Double) -> String { String(format: "%.1f", value) }
  private func percent(_ part: Double) -> String { String(format: "%.1f %%", part * 100) }

  private func label(_ text: String, x: Int, y: Int, anchor: String) -> String {
    "<text x=\"\(x)\" y=\"\(y)\" text-anchor=\"\(anchor)\">\(text)</text>"
  }

  private func rectangle(x: Double, to end: Double, y: Int, _ colour: String, _ title: String) -> String {
    "<rect x=\"\(text(x))\" y=\"\(y)\" width=\"\(text(end - x))\" height=\"24\" fill=\"\(colour)\"><title>\(title)</title>"
      + "</rect>"
  }
}
