/// The rules of Prometheus and of this project for metric names.
enum MetricName {
  /// The rule that a registration breaks by itself; nil if it breaks none.
  static func problem(
    name: String, kind: MetricsRegistry.Kind, labelNames: [String], bounds: [Double]
  ) -> String? {
    guard isName(name, colons: true) else {
      return "metric name '\(name)': use letters, digits, '_' and ':', with no digit first"
    }
    if kind == .counter, !name.hasSuffix("_total") { return "counter '\(name)': the name of a counter ends in _total" }
    if kind != .counter, name.hasSuffix("_total") { return "metric '\(name)': only a counter's name ends in _total" }
    for label in labelNames {
      guard isName(label, colons: false), !label.hasPrefix("__") else {
        return "label '\(label)' of '\(name)': use letters, digits and '_', with neither a digit nor '__' first"
      }
      if kind == .histogram, label == "le" { return "label 'le' of '\(name)' belongs to the histogram's buckets" }
    }
    if kind == .histogram {
      let ascending = zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }
      guard !bounds.isEmpty, ascending, bounds.allSatisfy(\.isFinite) else {
        return "histogram '\(name)': bucket bounds must be finite and ascending"
      }
    }
    return nil
  }

  /// How a registration contradicts an earlier one with the same name; nil if it does not.
  static func conflict(
    name: String, _ family: MetricsRegistry.Family, kind: MetricsRegistry.Kind, help: String, labelNames: [String],
    bounds: [Double]
  ) -> String? {
    if family.kind != kind { return "metric '\(name)' is a \(family.kind.rawValue), not a \(kind.rawValue)" }
    if family.help != help { return "metric '\(name)' was registered with another help text: '\(family.help)'" }
    if family.labelNames != labelNames { return "metric '\(name)' has the labels \(family.labelNames)" }
    if family.bounds != bounds { return "histogram '\(name)' has the buckets \(family.bounds)" }
    return nil
  }

  private static func isName(_ name: String, colons: Bool) -> Bool {
    guard let first = name.utf8.first, !(48...57).contains(first) else { return false }
    return name.utf8.allSatisfy { byte in
      switch byte {
      case 48...57, 65...90, 97...122, 95: true
      case 58: colons
      default: false
      }
    }
  }
}
