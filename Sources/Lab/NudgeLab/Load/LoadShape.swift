import ServiceKit

/// A load's rate over time: a ramp, a constant rate, and optional bursts. A value.
struct LoadShape: Sendable, Equatable {
  /// A part of each period with a higher rate.
  struct Burst: Sendable, Equatable {
    /// Seconds from the start of one burst to the next.
    var every: Double
    /// Seconds a burst lasts; less than `every`.
    var lasting: Double
    /// Multiplies the rate.
    var factor: Double
  }

  /// Messages a second, after the ramp and between bursts.
  let rate: Double
  /// Seconds of the linear ramp to `rate`.
  let ramp: Double
  /// Each period after the ramp ends with one; nil: no bursts.
  let burst: Burst?

  /// `rate` must be above 0.
  init(rate: Double, ramp: Double = 0, burst: Burst? = nil) {
    self.rate = rate
    self.ramp = max(0, ramp)
    self.burst = burst
  }

  /// Messages due in the first `seconds`.
  func messages(in seconds: Double) -> Double {
    let rising = min(seconds, ramp)
    let risen = ramp > 0 ? rate * rising * rising / (2 * ramp) : 0
    let rest = max(0, seconds - ramp)
    guard let burst else { return risen + rate * rest }
    let periods = (rest / burst.every).rounded(.down)
    let inPeriod = rest - periods * burst.every
    let quiet = burst.every - burst.lasting
    return risen + periods * messagesAPeriod(burst) + rate * min(inPeriod, quiet)
      + rate * burst.factor * max(0, inPeriod - quiet)
  }

  /// When a message, counted from 0, is due, in seconds from the start.
  func due(_ message: Int) -> Double {
    let number = Double(message)
    let rising = rate * ramp / 2
    guard number >= rising else { return (2 * ramp * number / rate).squareRoot() }
    let rest = number - rising
    guard let burst else { return ramp + rest / rate }
    let aPeriod = messagesAPeriod(burst)
    let periods = (rest / aPeriod).rounded(.down)
    let inPeriod = rest - periods * aPeriod
    let quiet = burst.every - burst.lasting
    let fromQuiet = min(inPeriod, rate * quiet)
    return ramp + periods * burst.every + fromQuiet / rate + (inPeriod - fromQuiet) / (rate * burst.factor)
  }

  private func messagesAPeriod(_ burst: Burst) -> Double {
    rate * (burst.every - burst.lasting) + rate * burst.factor * burst.lasting
  }
}

extension LoadShape.Burst: SettingValue {
  /// `10x5s/1m`: ten times the rate for 5 seconds of every minute.
  static func parse(_ text: String) throws(SettingValueError) -> LoadShape.Burst {
    let wrong = SettingValueError(
      allowed: "a factor, a duration and a longer period, such as 10x5s/1m")
    let parts = text.split(separator: "x", maxSplits: 1)
    guard parts.count == 2, let factor = Double(parts[0]), factor >= 1, factor <= 1_000 else { throw wrong }
    let times = parts[1].split(separator: "/", maxSplits: 1).map(String.init)
    guard times.count == 2 else { throw wrong }
    let lasting = try Duration.parse(times[0]).seconds
    let every = try Duration.parse(times[1]).seconds
    guard lasting > 0, lasting < every else { throw wrong }
    return LoadShape.Burst(every: every, lasting: lasting, factor: factor)
  }

  var settingText: String {
    "\(factor.settingText)x\(Duration.seconds(lasting).settingText)/\(Duration.seconds(every).settingText)"
  }

  static var placeholder: String { "NxDURATION/PERIOD" }
}
