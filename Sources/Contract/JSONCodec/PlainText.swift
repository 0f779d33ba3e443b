/// Copies texts without characters that need an escape in JSON.
enum PlainText {
  /// Copies a short text, such as a key. A call of `memmove` takes longer than these few loads, which may overlap.
  @inline(__always)
  static func copyShort(_ source: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>, _ length: Int) {
    let (from, to) = (UnsafeRawPointer(source), UnsafeMutableRawPointer(target))
    func copy<Word: FixedWidthInteger & BitwiseCopyable>(_: Word.Type, _ offset: Int) {
      to.storeBytes(of: from.loadUnaligned(fromByteOffset: offset, as: Word.self), toByteOffset: offset, as: Word.self)
    }
    if length > 16 {
      target.update(from: source, count: length)
    } else if length >= 8 {
      copy(UInt64.self, 0)
      copy(UInt64.self, length - 8)
    } else if length >= 4 {
      copy(UInt32.self, 0)
      copy(UInt32.self, length - 4)
    } else {
      for index in 0..<length { target[index] = source[index] }
    }
  }

  /// Copies the text up to the first character that needs an escape; nearly every text has none. It copies sixteen
  /// bytes at a time, and the last eight once more. Returns the number of bytes copied; the escape is among the next
  /// sixteen bytes, or the last ones.
  static func copy(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, _ length: Int) -> Int {
    guard length >= 8 else { return 0 }
    var i = 0
    while length - i >= 16 {
      let first = source.loadUnaligned(fromByteOffset: i, as: UInt64.self)
      let second = source.loadUnaligned(fromByteOffset: i + 8, as: UInt64.self)
      guard needsEscape(first) | needsEscape(second) == 0 else { return i }
      target.storeBytes(of: first, toByteOffset: i, as: UInt64.self)
      target.storeBytes(of: second, toByteOffset: i + 8, as: UInt64.self)
      i += 16
    }
    if length - i >= 8 {
      let word = source.loadUnaligned(fromByteOffset: i, as: UInt64.self)
      guard needsEscape(word) == 0 else { return i }
      target.storeBytes(of: word, toByteOffset: i, as: UInt64.self)
      i += 8
    }
    guard i < length else { return length }
    let last = source.loadUnaligned(fromByteOffset: length - 8, as: UInt64.self)
    guard needsEscape(last) == 0 else { return i }
    target.storeBytes(of: last, toByteOffset: length - 8, as: UInt64.self)
    return length
  }

  /// Sets the top bit of each byte that is a quote, a backslash or below 0x20. Bytes above the first such byte may be
  /// set too, because subtraction borrows from them.
  static func needsEscape(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quote = word ^ (ones &* 0x22)
    let backslash = word ^ (ones &* 0x5C)
    let below = (word &- ones &* 0x20) & ~word
    let equal = ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)
    return (below | equal) & (ones &* 0x80)
  }
}
