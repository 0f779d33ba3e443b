import TestSupport

/// Features of a schedule beyond crashes, pauses and lost requests. Each costs time, so schedules have different ones.
///
/// A generator of their own draws the features and their events. So a schedule without them is the same as before features existed, and
/// seeds that found defects then stay valid.
struct ScheduleFeatures: Equatable {
  /// The stage asks for something to be done outside (`SendingStage`).
  var effects = false
  /// The clock jumps by minutes and days: changelogs are compacted, inputs cut.
  var ageing = false
  /// Processes are static members: one that is back within its session keeps its tasks.
  var returns = false
  /// Some records set timers (`CountingStage`; not together with effects).
  var timers = false

  /// There is one broker, which stops and starts again, and leaves out markers.
  var outages = false
  /// All members lose their sessions at once, with requests in flight (with effects only).
  var losses = false
  /// The broker is away from all members, which then are told of the loss and join again (with effects only).
  var handovers = false
  /// Transactions are of version 1.
  var former = false
  /// Brokers that lead a partition no more refuse offsets, until they are asked again.
  var formerLeaders = false

  static let none = ScheduleFeatures()

  static func drawn(seed: UInt64) -> ScheduleFeatures {
    var random = SeededGenerator(seed: seed ^ 0x5eed)
    let (effects, ageing, returns) = (random.oneIn(3), random.oneIn(4), random.oneIn(3))
    let timers = !effects && random.oneIn(3)
    let outages = random.oneIn(4)
    let losses = effects && random.oneIn(2)
    return ScheduleFeatures(
      effects: effects, ageing: ageing, returns: returns, timers: timers, outages: outages, losses: losses,
      handovers: effects && random.oneIn(2), former: one(in: 4, 0xf0, seed),
      formerLeaders: one(in: 4, 0x1eade5, seed))
  }

  /// By a generator of its own: other seeds stay what they were.
  private static func one(in number: UInt64, _ salt: UInt64, _ seed: UInt64) -> Bool {
    var random = SeededGenerator(seed: seed ^ salt)
    return random.oneIn(number)
  }

  /// The generator for events of features.
  static func generator(seed: UInt64) -> SeededGenerator { SeededGenerator(seed: ~seed) }
}
