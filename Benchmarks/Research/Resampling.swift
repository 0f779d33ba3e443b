import NudgeLab

/// A figure of all logs, with the interval that holds 95 of 100 resamples.
struct ResampledFigure: Encodable, Equatable {
  var value: Double
  var low: Double
  var high: Double
}

/// Draws of as many logs as there are, with replacement. A log is drawn whole: its days and people are not independent of each other.
struct Resampling {
  private static let count = 1_000

  /// The logs of each draw, by their places.
  let draws: [[Int]]

  init(logs count: Int, seed: UInt64) {
    var random = SeededRandom(seed: seed)
    draws = (0..<Self.count).map { _ in (0..<count).map { _ in random.number(0...count - 1) } }
  }

  /// A figure, rounded to thousandths.
  func figure<Sample>(_ all: Sample, _ samples: [Sample], _ value: (Sample) -> Double) -> ResampledFigure {
    let values = samples.map(value).sorted()
    func rounded(_ value: Double) -> Double { (value * 1_000).rounded() / 1_000 }
    return ResampledFigure(
      value: rounded(value(all)), low: rounded(values[Self.count / 40]),
      high: rounded(values[Self.count - 1 - Self.count / 40]))
  }
}
