/// Pseudorandom numbers that depend only on the seed (SplitMix64): a property test prints its seed, and a seed determines a simulated
/// schedule.
public struct SeededGenerator: RandomNumberGenerator {
  /// The seed.
  public let seed: UInt64
  @usableFromInline var state: UInt64

  /// The generator of a seed.
  public init(seed: UInt64) {
    self.seed = seed
    state = seed
  }

  /// A generator with a new seed, or that of the environment's `NUDGE_TEST_SEED`, printed with the test's name.
  public init(announcedFor test: String) {
    let wanted: UInt64? = runParameter("NUDGE_TEST_SEED")
    self.init(seed: wanted ?? UInt64.random(in: .min ... .max))
    print("\(test): NUDGE_TEST_SEED=\(seed)")
  }

  /// The next number.
  @inlinable public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// True once in `n`; never where `n` is 0.
  @inlinable public mutating func oneIn(_ n: UInt64) -> Bool { n > 0 && next() % n == 0 }

  /// A number from 0 on and below `n`.
  @inlinable public mutating func below(_ n: Int) -> Int { n <= 1 ? 0 : Int(next() % UInt64(n)) }
}
