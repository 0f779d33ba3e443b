import Foundation

/// Prints tables for people while benchmarks run, or one JSON object at the end.
final class Report {
  private let isJSON: Bool
  private var notes: [String] = []
  private var results: [[String: Any]] = []
  private var benchmark = ""

  init(isJSON: Bool) { self.isJSON = isJSON }

  /// A number with its unit and its target, if it has one.
  struct Figure {
    var name: String
    var value: Double
    var unit: String
    var target: String?
  }

  func note(_ text: String) {
    notes.append(text)
    progress(text)
  }

  func begin(_ name: String, _ abstract: String) {
    benchmark = name
    progress("\n\(name): \(abstract)")
  }

  func progress(_ text: String) {
    // Unbuffered: a run takes minutes, and shows its progress even if its output is a pipe.
    (isJSON ? FileHandle.standardError : FileHandle.standardOutput).write(Data((text + "\n").utf8))
  }

  private func keep(_ subject: String, _ figures: [Figure]) {
    var object: [String: Any] = ["benchmark": benchmark, "subject": subject]
    for figure in figures where figure.value.isFinite {
      object[figure.unit.isEmpty ? figure.name : "\(figure.name) (\(figure.unit))"] = figure.value
    }
    results.append(object)
  }

  func row(_ subject: String, _ figures: [Figure]) {
    keep(subject, figures)
    let columns = figures.map { figure in
      "\(figure.name) \(Self.text(figure.value)) \(figure.unit)" + (figure.target.map { " (target \($0))" } ?? "")
    }
    progress("  \(subject.padding(toLength: 26, withPad: " ", startingAt: 0)) \(columns.joined(separator: "  "))")
  }

  /// Prints rows with the same figures as a table.
  func table(_ rows: [(subject: String, figures: [Figure])]) {
    guard let first = rows.first else { return }
    for row in rows { keep(row.subject, row.figures) }
    var lines = [[""] + first.figures.map { $0.unit.isEmpty ? $0.name : "\($0.name), \($0.unit)" }]
    lines += rows.map { row in
      [row.subject] + row.figures.map { Self.text($0.value) + ($0.target.map { " (\($0))" } ?? "") }
    }
    let widths = lines[0].indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    for line in lines {
      let cells = zip(line, widths).enumerated().map { column, cell in
        let blanks = String(repeating: " ", count: cell.1 - cell.0.count)
        return column == 0 ? cell.0 + blanks : blanks + cell.0
      }
      progress("  " + cells.joined(separator: "  "))
    }
  }

  func end() {
    guard isJSON else { return }
    let object: [String: Any] = ["notes": notes, "results": results]
    if let data = try? JSONSerialization.data(withJSONObject: object, options: [.prettyPrinted, .sortedKeys]) {
      print(String(decoding: data, as: UTF8.self))
    }
  }

  private static func text(_ value: Double) -> String {
    String(format: abs(value) >= 1000 ? "%.0f" : abs(value) >= 10 ? "%.1f" : "%.2f", value)
  }
}
