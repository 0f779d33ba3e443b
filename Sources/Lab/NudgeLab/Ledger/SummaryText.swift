/// Lays out the summary of a demo or a load.
enum SummaryText {
  /// One line a fact, then one line a check.
  static func page(_ facts: [(name: String, text: String)], _ account: LedgerVerdict, _ paint: Paint) -> String {
    let lines = facts.map { "  \($0.name)\(String(repeating: " ", count: 14 - $0.name.count))\($0.text)" }
    return (["", paint.bold("summary")] + lines + ["", paint.bold("account")] + account.lines(paint))
      .joined(separator: "\n")
  }

  /// Counts by name, largest first.
  static func counts(_ counts: [String: Int]) -> String {
    counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\(PipelineView.grouped($0.value)) \($0.key)" }
      .joined(separator: ", ")
  }
}
