/// Prometheus' text format, version 0.0.4.
enum PrometheusText {
  /// The content type of `/metrics`.
  static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  static func exposition(of families: [String: MetricsRegistry.Family]) -> String {
    var text = ""
    for (name, family) in families.sorted(by: { $0.key < $1.key }) where !family.children.isEmpty {
      text += "# HELP \(name) \(escapedHelp(family.help))\n# TYPE \(name) \(family.kind.rawValue)\n"
      for (labels, instrument) in family.children.sorted(by: { $0.key < $1.key }) {
        switch instrument {
        case .counter(let counter): sample(name, labels, String(counter.value), to: &text)
        case .gauge(let gauge): sample(name, labels, number(gauge.value), to: &text)
        case .reading(let read): sample(name, labels, number(read()), to: &text)
        case .histogram(let histogram): buckets(name, labels, histogram, to: &text)
        }
      }
    }
    return text
  }

  /// `a="1",b="2"`, by name; empty without labels.
  static func labels(_ labels: [String: String]) -> String {
    labels.sorted { $0.key < $1.key }.map { "\($0.key)=\"\(escapedValue($0.value))\"" }.joined(separator: ",")
  }

  private static func buckets(_ name: String, _ labels: String, _ histogram: Histogram, to text: inout String) {
    let state = histogram.snapshot
    var below = 0
    for (index, count) in state.counts.enumerated() {
      below += count
      let bound = index < histogram.bounds.count ? number(histogram.bounds[index]) : "+Inf"
      let all = labels.isEmpty ? "le=\"\(bound)\"" : "\(labels),le=\"\(bound)\""
      sample(name + "_bucket", all, String(below), to: &text)
    }
    sample(name + "_sum", labels, number(state.sum), to: &text)
    sample(name + "_count", labels, String(below), to: &text)
  }

  private static func sample(_ name: String, _ labels: String, _ value: String, to text: inout String) {
    text += labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
  }

  private static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    // Whole numbers are written without ".0", within the range in which a Double represents each of them.
    if value == value.rounded(), abs(value) < 9_007_199_254_740_992 { return String(Int64(value)) }
    return String(value)
  }

  private static func escapedHelp(_ text: String) -> String {
    escaped(text, quotes: false)
  }

  private static func escapedValue(_ text: String) -> String {
    escaped(text, quotes: true)
  }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quotes: escaped += "\\\""
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
