/// A value of a parsed document: a position on simdjson's tape, read in place.
///
/// It borrows the parser's memory and is valid until the next `parse` (see `JSONParser.parse`).
/// Accessors return nil for a value of another type.
@frozen
public struct JSONNode {
  /// The type of a value. A number is `int64` if it is an integer in that range, else `uint64` if it is in that range,
  /// else `double`.
  @frozen
  public enum Kind: Sendable, Equatable {
    /// `{…}`
    case object
    /// `[…]`
    case array
    /// `"…"`
    case string
    /// An integer from -2⁶³ to 2⁶³ - 1.
    case int64
    /// An integer from 2⁶³ to 2⁶⁴ - 1.
    case uint64
    /// A number with a fraction or an exponent, or an integer beyond 64 bits.
    case double
    case bool
    case null
  }

  // Each element of the tape is a word with its type in the top byte. A number has its value in a second word. The
  // lower bits of a string are its position in `strings`; the lowest 32 bits of a container are the index after its
  // end.
  @usableFromInline let tape: UnsafePointer<UInt64>
  @usableFromInline let strings: UnsafePointer<UInt8>
  @usableFromInline let index: Int

  @inlinable
  init(tape: UnsafePointer<UInt64>, strings: UnsafePointer<UInt8>, index: Int) {
    self.tape = tape
    self.strings = strings
    self.index = index
  }

  @inlinable @inline(__always)
  var tag: UInt8 { UInt8(truncatingIfNeeded: tape[index] &>> 56) }

  /// The index after this value.
  @inlinable @inline(__always)
  var end: Int {
    switch tag {
    case Tag.object, Tag.array: Int(tape[index] & 0xFFFF_FFFF)
    case Tag.int64, Tag.uint64, Tag.double: index &+ 2
    default: index &+ 1
    }
  }

  @inlinable @inline(__always)
  func at(_ index: Int) -> JSONNode { JSONNode(tape: tape, strings: strings, index: index) }

  /// The type of this value.
  @inlinable
  public var kind: Kind {
    switch tag {
    case Tag.object: .object
    case Tag.array: .array
    case Tag.string: .string
    case Tag.int64: .int64
    case Tag.uint64: .uint64
    case Tag.double: .double
    case Tag.true, Tag.false: .bool
    default: .null
    }
  }

  /// Whether this is `null`.
  @inlinable
  public var isNull: Bool { tag == Tag.null }

  @inlinable
  public var bool: Bool? {
    switch tag {
    case Tag.true: true
    case Tag.false: false
    default: nil
    }
  }

  /// An integer in range. A double counts if it is whole and at most 2⁵³, so that no rounded number counts (`1e3` is
  /// 1000, as for `JSONDecoder`).
  @inlinable
  public var int64: Int64? {
    switch tag {
    case Tag.int64: Int64(bitPattern: tape[index &+ 1])
    case Tag.double: wholeDouble
    default: nil
    }
  }

  /// An integer in range that is not negative; doubles as for `int64`.
  @inlinable
  public var uint64: UInt64? {
    switch tag {
    case Tag.uint64: tape[index &+ 1]
    case Tag.int64, Tag.double: int64.flatMap(UInt64.init(exactly:))
    default: nil
    }
  }

  /// Any number as the nearest double. A number too small for a double is 0.
  @inlinable
  public var double: Double? {
    switch tag {
    case Tag.int64: Double(Int64(bitPattern: tape[index &+ 1]))
    case Tag.uint64: Double(tape[index &+ 1])
    case Tag.double: Double(bitPattern: tape[index &+ 1])
    default: nil
    }
  }

  @usableFromInline
  var wholeDouble: Int64? {
    let value = Double(bitPattern: tape[index &+ 1])
    guard value.magnitude <= 9_007_199_254_740_992 else { return nil }
    let whole = Int64(value)
    return Double(whole) == value ? whole : nil
  }

  /// The UTF-8 of a string in the parser's memory, with escapes resolved. It may contain NUL.
  @inlinable
  public var utf8: UnsafeBufferPointer<UInt8>? {
    tag == Tag.string ? stringBytes : nil
  }

  @inlinable @inline(__always)
  var stringBytes: UnsafeBufferPointer<UInt8> {
    let start = strings + Int(tape[index] & 0x00FF_FFFF_FFFF_FFFF)
    let count = UnsafeRawPointer(start).loadUnaligned(as: UInt32.self)
    return UnsafeBufferPointer(start: start + 4, count: Int(count))
  }

  @inlinable
  public var string: String? {
    utf8.map { String(decoding: $0, as: UTF8.self) }
  }

  /// Whether this is exactly this string, byte by byte. It allocates no `String`.
  @inlinable
  public func equals(_ text: StaticString) -> Bool {
    tag == Tag.string && hasBytes(of: text)
  }

  /// Lets a `switch` over a string node or key use literals as cases.
  @inlinable
  public static func ~= (text: StaticString, node: JSONNode) -> Bool { node.equals(text) }

  @inlinable @inline(__always)
  func hasBytes(of text: StaticString) -> Bool {
    let bytes = stringBytes
    guard bytes.count == text.utf8CodeUnitCount else { return false }
    // Keys are short and mostly differ in their first bytes, so a call of memcmp would cost more.
    let other = text.utf8Start
    var i = 0
    while i < bytes.count {
      guard bytes[i] == other[i] else { return false }
      i &+= 1
    }
    return true
  }

  /// The value of an object's member; nil if the member is missing or this is not an object. The first of several
  /// members with the same key counts, as for `JSONDecoder`. The time is proportional to the members before it.
  @inlinable
  public subscript(key: StaticString) -> JSONNode? {
    guard tag == Tag.object else { return nil }
    let last = Int(tape[index] & 0xFFFF_FFFF) &- 1
    var i = index &+ 1
    while i < last {
      let value = at(i &+ 1)
      if at(i).hasBytes(of: key) { return value }
      i = value.end
    }
    return nil
  }

  /// The members of an object, in document order.
  ///
  /// The sequence includes members whose key occurred before. A reader must use the first one, as `JSONDecoder` does.
  @inlinable
  public var members: JSONMembers? {
    tag == Tag.object ? JSONMembers(object: self) : nil
  }

  /// The elements of an array, in order.
  @inlinable
  public var elements: JSONElements? {
    tag == Tag.array ? JSONElements(array: self) : nil
  }

  /// The types on simdjson's tape.
  @usableFromInline
  enum Tag {
    @inlinable static var object: UInt8 { 0x7B }
    @inlinable static var array: UInt8 { 0x5B }
    @inlinable static var string: UInt8 { 0x22 }
    @inlinable static var int64: UInt8 { 0x6C }
    @inlinable static var uint64: UInt8 { 0x75 }
    @inlinable static var double: UInt8 { 0x64 }
    @inlinable static var `true`: UInt8 { 0x74 }
    @inlinable static var `false`: UInt8 { 0x66 }
    @inlinable static var null: UInt8 { 0x6E }
  }
}

/// A member of an object.
@frozen
public struct JSONMember {
  /// Its name: a string node.
  public let key: JSONNode
  public let value: JSONNode

  @inlinable
  init(key: JSONNode, value: JSONNode) {
    self.key = key
    self.value = value
  }
}

/// The members of an object, in document order.
@frozen
public struct JSONMembers: Sequence, IteratorProtocol {
  @usableFromInline var position: JSONNode
  @usableFromInline let last: Int

  @inlinable
  init(object: JSONNode) {
    position = object.at(object.index &+ 1)
    last = object.end &- 1
  }

  /// The next member; nil after the last.
  @inlinable
  public mutating func next() -> JSONMember? {
    guard position.index < last else { return nil }
    let member = JSONMember(key: position, value: position.at(position.index &+ 1))
    position = position.at(member.value.end)
    return member
  }

  /// The value of the first member of that name among those that are left; nil if there is none. If that is the next one, the rest are
  /// left: a reader that asks in the members' order finds each at once. Ask for each name once.
  @inlinable
  public mutating func take(_ key: StaticString) -> JSONNode? {
    guard position.index < last else { return nil }
    let value = position.at(position.index &+ 1)
    guard position.hasBytes(of: key) else { return find(key, from: value.end) }
    position = position.at(value.end)
    return value
  }

  @usableFromInline
  func find(_ key: StaticString, from start: Int) -> JSONNode? {
    var i = start
    while i < last {
      let value = position.at(i &+ 1)
      if position.at(i).hasBytes(of: key) { return value }
      i = value.end
    }
    return nil
  }
}

/// The elements of an array, in order.
@frozen
public struct JSONElements: Sequence, IteratorProtocol {
  @usableFromInline var position: JSONNode
  @usableFromInline let last: Int

  @inlinable
  init(array: JSONNode) {
    position = array.at(array.index &+ 1)
    last = array.end &- 1
  }

  /// The next element; nil after the last.
  @inlinable
  public mutating func next() -> JSONNode? {
    guard position.index < last else { return nil }
    let element = position
    position = position.at(element.end)
    return element
  }
}
