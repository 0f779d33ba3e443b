/// Writes JSON into memory of its own. Given the same fields in the same order, it writes the bytes that `JSONEncoder`
/// writes with `.withoutEscapingSlashes`.
///
/// The writer sets the commas. The caller closes objects and arrays, and gives each member of an object a key.
/// `removeAll()` starts a new text in the same memory.
public struct JSONWriter: ~Copyable {
  /// The number of bytes written.
  public private(set) var count = 0

  private var start: UnsafeMutablePointer<UInt8>
  private var capacity: Int

  /// A writer with room for this many bytes at first. It grows as needed.
  public init(capacity: Int = 1_024) {
    self.capacity = max(64, capacity)
    start = .allocate(capacity: self.capacity)
  }

  deinit {
    start.deallocate()
  }

  // MARK: What is written

  /// A copy of the text.
  public var bytes: [UInt8] {
    [UInt8](UnsafeBufferPointer(start: start, count: count))
  }

  /// Removes the text but keeps the memory.
  public mutating func removeAll() {
    count = 0
  }

  // MARK: Objects and arrays

  /// `{`
  public mutating func beginObject() {
    comma(1)
    append(0x7B)
  }

  /// `}`
  public mutating func endObject() {
    reserve(1)
    append(0x7D)
  }

  /// `[`
  public mutating func beginArray() {
    comma(1)
    append(0x5B)
  }

  /// `]`
  public mutating func endArray() {
    reserve(1)
    append(0x5D)
  }

  /// The key of the following value. It is written unescaped, so it must have no quote, backslash or control character.
  public mutating func key(_ key: StaticString) {
    reserve(key.utf8CodeUnitCount + 4)
    appendKey(key)
  }

  /// As above, for a key that is not known at compile time. It is escaped.
  public mutating func key(_ key: String) {
    value(key)
    reserve(1)
    append(0x3A)
  }

  // MARK: Values

  public mutating func value(_ value: String) {
    var value = value
    value.withUTF8 { utf8 in quoted(utf8) }
  }

  public mutating func value(_ value: Int64) {
    integer(value.magnitude, negative: value < 0)
  }

  public mutating func value(_ value: Int) {
    integer(UInt64(value.magnitude), negative: value < 0)
  }

  public mutating func value(_ value: UInt64) {
    integer(value, negative: false)
  }

  /// A number as the shortest text that reads back as the same double. Infinities and NaN, which JSON lacks, are
  /// written as `null`; `JSONEncoder` would throw.
  public mutating func value(_ value: Double) {
    guard value.isFinite else { return null() }
    if let thousandths = Self.thousandths(value) { return fraction(thousandths) }
    var text = value.description
    text.withUTF8 { utf8 in
      comma(utf8.count)
      // Swift says 1.0 where JSONEncoder says 1.
      let isWhole = utf8.count > 2 && utf8[utf8.count - 2] == 0x2E && utf8[utf8.count - 1] == 0x30
      copy(utf8.baseAddress, isWhole ? utf8.count - 2 : utf8.count)
    }
  }

  /// The number in thousandths if that is a whole number below 10¹²; nil otherwise.
  ///
  /// Decimals of up to 15 significant digits are far enough apart that no two read back as the same double. So the one
  /// written here, without trailing zeros, is the shortest for this double.
  private static func thousandths(_ value: Double) -> Int64? {
    guard abs(value) < 1e9, value != 0 else { return nil }
    let rounded = (value * 1_000).rounded()
    return rounded / 1_000 == value ? Int64(rounded) : nil
  }

  /// A nonzero number of thousandths, without a trailing zero.
  private mutating func fraction(_ thousandths: Int64) {
    comma(24)
    let (whole, rest) = thousandths.magnitude.quotientAndRemainder(dividingBy: 1_000)
    appendInteger(whole, negative: thousandths < 0)
    guard rest > 0 else { return }
    append(0x2E)
    append(UInt8(rest / 100) + 0x30)
    if rest % 100 > 0 { append(UInt8(rest / 10 % 10) + 0x30) }
    if rest % 10 > 0 { append(UInt8(rest % 10) + 0x30) }
  }

  public mutating func value(_ value: Bool) {
    literal(value ? "true" : "false")
  }

  public mutating func null() {
    literal("null")
  }

  // MARK: Members: a key with its value

  /// A member with a string.
  public mutating func field(_ key: StaticString, _ value: String) {
    var value = value
    value.withUTF8 { utf8 in
      // Room for `appendKey` and `appendQuoted`, which need the texts and fourteen bytes.
      reserve(key.utf8CodeUnitCount + utf8.count + 16)
      appendKey(key)
      appendQuoted(utf8)
    }
  }

  /// A member with an integer.
  public mutating func field(_ key: StaticString, _ value: Int64) {
    reserve(key.utf8CodeUnitCount + 26)
    appendKey(key)
    appendInteger(value.magnitude, negative: value < 0)
  }

  /// A member with an integer.
  public mutating func field(_ key: StaticString, _ value: Int) { field(key, Int64(value)) }

  /// A member with a number.
  public mutating func field(_ key: StaticString, _ value: Double) {
    self.key(key)
    self.value(value)
  }

  /// A member with `true` or `false`.
  public mutating func field(_ key: StaticString, _ value: Bool) {
    self.key(key)
    self.value(value)
  }

  /// A member with a string; nothing for nil, as with `encodeIfPresent`.
  public mutating func field(_ key: StaticString, ifPresent value: String?) {
    if let value { field(key, value) }
  }

  // MARK: Bytes

  /// Makes room for `length` bytes and a comma. Writes the comma if a value or member precedes.
  ///
  /// The last byte decides: no comma follows an opening bracket or a colon. A string cannot end with either, because it
  /// ends with a quote.
  private mutating func comma(_ length: Int) {
    reserve(length + 1)
    appendComma()
  }

  /// There must be room.
  @inline(__always)
  private mutating func appendComma() {
    guard count > 0 else { return }
    switch start[count - 1] {
    case 0x7B, 0x5B, 0x3A: break
    default: append(0x2C)
    }
  }

  /// There must be room for the key and four bytes.
  @inline(__always)
  private mutating func appendKey(_ key: StaticString) {
    appendComma()
    append(0x22)
    let length = key.utf8CodeUnitCount
    PlainText.copyShort(key.utf8Start, to: start + count, length)
    count += length
    append(0x22)
    append(0x3A)
  }

  @inline(__always)
  private mutating func reserve(_ length: Int) {
    if capacity - count < length { grow(length) }
  }

  @inline(never)
  private mutating func grow(_ length: Int) {
    capacity = max(2 * capacity, count + length)
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    larger.update(from: start, count: count)
    start.deallocate()
    start = larger
  }

  /// There must be room.
  @inline(__always)
  private mutating func append(_ byte: UInt8) {
    start[count] = byte
    count += 1
  }

  /// There must be room.
  private mutating func copy(_ bytes: UnsafePointer<UInt8>?, _ length: Int) {
    guard let bytes else { return }
    (start + count).update(from: bytes, count: length)
    count += length
  }

  private mutating func literal(_ text: StaticString) {
    comma(text.utf8CodeUnitCount)
    copy(text.utf8Start, text.utf8CodeUnitCount)
  }

  private mutating func integer(_ magnitude: UInt64, negative: Bool) {
    comma(20)
    appendInteger(magnitude, negative: negative)
  }

  /// There must be room for 20 bytes.
  private mutating func appendInteger(_ magnitude: UInt64, negative: Bool) {
    if negative { append(0x2D) }
    var digits = 1
    var bound: UInt64 = 10
    while digits < 20, magnitude >= bound {
      digits += 1
      let (next, overflow) = bound.multipliedReportingOverflow(by: 10)
      if overflow { break }
      bound = next
    }
    var rest = magnitude
    var i = count + digits
    count = i
    repeat {
      i -= 1
      start[i] = UInt8(truncatingIfNeeded: rest % 10) + 0x30
      rest /= 10
    } while rest > 0
  }

  private mutating func quoted(_ utf8: UnsafeBufferPointer<UInt8>) {
    comma(utf8.count + 10)
    appendQuoted(utf8)
  }

  /// There must be room for the text and ten bytes.
  private mutating func appendQuoted(_ utf8: UnsafeBufferPointer<UInt8>) {
    append(0x22)
    if let source = UnsafeRawPointer(utf8.baseAddress) {
      escape(source, utf8.count)
    }
    append(0x22)
  }

  /// Copies eight bytes at a time up to the next byte that needs an escape, writes the escape, and continues behind it.
  /// Before each step there is room for the rest of the text and nine more bytes.
  private mutating func escape(_ source: UnsafeRawPointer, _ length: Int) {
    var i = PlainText.copy(source, to: UnsafeMutableRawPointer(start + count), length)
    count += i
    while i < length {
      let special: Int
      if length - i >= 8 {
        let word = source.loadUnaligned(fromByteOffset: i, as: UInt64.self)
        UnsafeMutableRawPointer(start + count).storeBytes(of: word, as: UInt64.self)
        let mask = PlainText.needsEscape(UInt64(littleEndian: word))
        special = mask.trailingZeroBitCount / 8
      } else {
        let byte = source.load(fromByteOffset: i, as: UInt8.self)
        start[count] = byte
        special = byte < 0x20 || byte == 0x22 || byte == 0x5C ? 0 : 1
        if special == 1 {
          count += 1
          i += 1
          continue
        }
      }
      count += special
      i += special
      guard special < 8 else { continue }
      // An escape takes up to six bytes.
      reserve(length - i + 16)
      appendEscape(source.load(fromByteOffset: i, as: UInt8.self))
      i += 1
    }
  }

  private mutating func appendEscape(_ byte: UInt8) {
    append(0x5C)
    switch byte {
    case 0x22, 0x5C: append(byte)
    case 0x08: append(0x62)
    case 0x09: append(0x74)
    case 0x0A: append(0x6E)
    case 0x0C: append(0x66)
    case 0x0D: append(0x72)
    default:
      append(0x75)
      append(0x30)
      append(0x30)
      append(0x30 + byte >> 4)
      let low = byte & 0xF
      append(low < 10 ? 0x30 + low : 0x57 + low)
    }
  }
}
