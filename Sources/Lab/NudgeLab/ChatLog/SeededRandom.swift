import NudgeSchema

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers for the same seed, on any machine.
package struct SeededRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  /// Another sequence for each seed and text: FNV-1a of the text's UTF-8 bytes, from the seed on.
  package init(seed: UInt64, _ text: String) {
    var hash = FNV1a(seed: seed)
    hash.combine(text.utf8)
    state = hash.value
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    return FNV1a.spread(state)
  }

  /// True with a probability of `percent`.
  package mutating func chance(_ percent: Int) -> Bool { next() % 100 < UInt64(clamping: percent) }

  /// Picks an element. `randomElement` could choose differently in another version of the standard library.
  package mutating func pick<Element>(_ choices: [Element]) -> Element { choices[Int(next() % UInt64(choices.count))] }

  package mutating func number(_ range: ClosedRange<Int>) -> Int {
    range.lowerBound + Int(next() % UInt64(range.upperBound - range.lowerBound + 1))
  }
}
