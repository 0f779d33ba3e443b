import Foundation

/// SplitMix64: a property test's randomness. Its seed is printed, and `NUDGE_TEST_SEED` repeats a run.
struct SeededGenerator: RandomNumberGenerator {
  let seed: UInt64
  private var state: UInt64

  init(test: String) {
    let wanted = ProcessInfo.processInfo.environment["NUDGE_TEST_SEED"].flatMap(UInt64.init)
    seed = wanted ?? UInt64.random(in: 0...UInt64.max)
    state = seed
    print("\(test): NUDGE_TEST_SEED=\(seed)")
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
