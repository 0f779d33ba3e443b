/// Numbers of repeated measurements.
struct Samples {
  private(set) var values: [Double]

  init(_ values: [Double]) { self.values = values.sorted() }

  var median: Double { quantile(0.5) }
  var max: Double { values.last ?? .nan }
  var min: Double { values.first ?? .nan }

  /// The value that this part of all does not exceed.
  func quantile(_ part: Double) -> Double {
    guard !values.isEmpty else { return .nan }
    return values[Swift.min(Int(Double(values.count) * part), values.count - 1)]
  }
}
