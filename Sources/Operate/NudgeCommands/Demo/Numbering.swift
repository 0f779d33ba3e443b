/// Texts as small numbers, so that sets of pairs of them stay small.
struct Numbering: Sendable {
  private var numbers: [String: Int32] = [:]
  private var names: [String] = []

  /// The number of a text, the same each time.
  mutating func number(_ name: String) -> Int32 {
    if let known = numbers[name] { return known }
    let number = Int32(names.count)
    numbers[name] = number
    names.append(name)
    return number
  }

  /// The text of a number.
  func name(_ number: Int32) -> String { names[Int(number)] }
}

/// Two numbers that belong together.
struct NumberPair: Hashable, Sendable {
  let first: Int32
  let second: Int32
}
