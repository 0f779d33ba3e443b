/// Numbers of repeated measurements.
struct Samples {
  private(set) var values: [Double]

  init(_ values: [Double]) { self.values = values.sorted() }

  var median: Double { quantile(0.5) }
  var max: Double { values.last ?? .nan }
  var min: Double { values.first ?? .nan }

  /// The quantile: this share of the numbers does not exceed it.
  func quantile(_ part: Double) -> Double {
    guard !values.isEmpty else { return .nan }
    return values[Swift.min(Int(Double(values.count) * part), values.count - 1)]
  }
}
