/// Values of fields, drawn at random; texts may be anything that JSON can hold.
public struct FieldGenerator {
  /// The source of randomness.
  public var random: SeededGenerator
  /// Every optional field is set, no list is empty and no text: a value says something in each of its fields.
  public var isFull: Bool
  /// Which of two fields that exclude each other is set; nil: either, by chance.
  public var takesSecond: Bool?

  /// A generator that draws from `random`.
  public init(_ random: SeededGenerator, isFull: Bool = false) {
    self.random = random
    self.isFull = isFull
  }

  /// Pieces that texts are made of: what JSON escapes, what UTF-8 writes in one to four bytes, what looks like JSON.
  private static let pieces = [
    "", "a", "ben", "conversation-7", "\"", "\\", "/", "\u{0}", "\u{1}", "\u{1f}", "\u{7f}", "\u{80}", "\n", "\t",
    "é", "e\u{301}", "ß", "\u{2028}", "漢字", "👩‍👩‍👧", "🦊", "\u{FEFF}", "\u{FFFD}", "\u{10FFFF}", "{\"a\":1}", "null",
    "\\u0000", "\\ud800", "]}", "שלום", "K",
  ]

  /// A text: ids of ordinary looks, what JSON escapes, what UTF-8 writes in one to four bytes.
  public mutating func text() -> String {
    var text = ""
    for _ in 0..<(isFull ? 1 : 0) + random.below(5) { text += Self.pieces[1 + random.below(Self.pieces.count - 1)] }
    if random.oneIn(20) { text = String(repeating: text, count: 40) }
    return isFull && text.isEmpty ? "x" : text
  }

  /// A number: small, a time, at a limit, or any.
  public mutating func integer() -> Int64 {
    switch random.below(4) {
    case 0: Int64(random.below(10)) + (isFull ? 1 : 0)
    case 1: 1_795_275_600_250 + Int64(random.below(1_000_000))
    case 2: [.max, .min, -1, 1 << 53, (1 << 53) + 1, Int64(Int32.max), 4_294_967_296][random.below(7)]
    default: Int64(truncatingIfNeeded: random.next())
    }
  }

  /// A number of 32 bits.
  public mutating func int32() -> Int32 { Int32(truncatingIfNeeded: integer()) }
  /// A number.
  public mutating func int() -> Int { Int(integer()) }
  /// A switch; true where `isFull`.
  public mutating func flag() -> Bool { isFull || random.oneIn(2) }

  /// A finite number.
  public mutating func number() -> Double {
    switch random.below(5) {
    case 0: Double(random.below(1001)) / 1000
    case 1: Double(random.below(20)) - 5
    case 2: [0.1, 1e-7, 1e21, 123456789.125, -0.0, .leastNonzeroMagnitude, .greatestFiniteMagnitude][random.below(7)]
    default:
      {
        let value = Double(bitPattern: random.next())
        return value.isFinite ? value : 0.5
      }()
    }
  }

  /// One of an enum's values.
  public mutating func choice<Choice: CaseIterable>(_: Choice.Type = Choice.self) -> Choice {
    let all = Array(Choice.allCases)
    return all[random.below(all.count)]
  }

  /// A value or none.
  public mutating func maybe<Value>(_ value: (inout FieldGenerator) -> Value) -> Value? {
    isFull || random.oneIn(2) ? value(&self) : nil
  }

  /// Some values.
  public mutating func list<Value>(_ value: (inout FieldGenerator) -> Value) -> [Value] {
    (0..<(isFull ? 2 : random.below(4))).map { _ in value(&self) }
  }
}
