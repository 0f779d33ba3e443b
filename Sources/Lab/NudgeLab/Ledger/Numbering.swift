/// Maps strings to small numbers, so that sets of pairs stay small.
struct Numbering: Sendable {
  private var numbers: [String: Int32] = [:]
  private var names: [String] = []

  /// A string's number, the same each time.
  mutating func number(_ name: String) -> Int32 {
    if let known = numbers[name] { return known }
    let number = Int32(names.count)
    numbers[name] = number
    names.append(name)
    return number
  }

  func name(_ number: Int32) -> String { names[Int(number)] }
}

struct NumberPair: Hashable, Sendable {
  let first: Int32
  let second: Int32
}
