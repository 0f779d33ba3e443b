import Foundation

/// Tables for people as they come, or one JSON object at the end.
final class Report {
  private let isJSON: Bool
  private var notes: [String] = []
  private var results: [[String: Any]] = []
  private var benchmark = ""

  init(isJSON: Bool) { self.isJSON = isJSON }

  /// A number with its unit and, where it has one, its target.
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
    // Unbuffered: a run takes minutes, and shows how it goes also where its output is a pipe.
    (isJSON ? FileHandle.standardError : FileHandle.standardOutput).write(Data((text + "\n").utf8))
  }

  func row(_ subject: String, _ figures: [Figure]) {
    var object: [String: Any] = ["benchmark": benchmark, "subject": subject]
    for figure in figures where figure.value.isFinite { object["\(figure.name) (\(figure.unit))"] = figure.value }
    results.append(object)
    let columns = figures.map { figure in
      "\(figure.name) \(Self.text(figure.value)) \(figure.unit)" + (figure.target.map { " (target \($0))" } ?? "")
    }
    progress("  \(subject.padding(toLength: 26, withPad: " ", startingAt: 0)) \(columns.joined(separator: "  "))")
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
