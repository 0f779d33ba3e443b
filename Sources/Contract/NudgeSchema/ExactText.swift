/// Whether two ids have the same bytes. Strings that Unicode treats as equal may be different ids.
public func sameId(_ a: String, _ b: String) -> Bool {
  // Compares contiguous storage directly, which nearly every string has.
  let whereContiguous = a.utf8.withContiguousStorageIfAvailable { mine in
    b.utf8.withContiguousStorageIfAvailable { mine.count == $0.count && mine.elementsEqual($0) }
  }
  return (whereContiguous ?? nil) ?? a.utf8.elementsEqual(b.utf8)
}

/// Whether two ids are both absent, or the same by their bytes.
public func sameId(_ a: String?, _ b: String?) -> Bool {
  switch (a, b) {
  case (nil, nil): true
  case (let a?, let b?): sameId(a, b)
  default: false
  }
}

/// An id as a key of a set or dictionary, compared by its bytes as `sameId` does.
package struct ExactText: Hashable, Sendable {
  package let text: String

  package init(_ text: String) { self.text = text }

  package static func == (a: ExactText, b: ExactText) -> Bool { sameId(a.text, b.text) }

  package func hash(into hasher: inout Hasher) {
    let wasContiguous: Void? = text.utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: .init($0)) }
    if wasContiguous == nil { for byte in text.utf8 { hasher.combine(byte) } }
  }
}

/// FNV-1a in 64 bits. It gives the same value on every machine and in every release, so rows may store it.
package struct FNV1a {
  @usableFromInline package private(set) var value: UInt64

  /// - Parameter seed: Selects one of several hash functions.
  @inlinable package init(seed: UInt64 = 0) { value = 0xcbf2_9ce4_8422_2325 ^ seed }

  @inlinable package mutating func combine(_ byte: UInt8) { combine(UInt64(byte)) }

  @inlinable package mutating func combine(_ unit: UInt64) { value = (value ^ unit) &* 0x100_0000_01b3 }

  @inlinable package mutating func combine(_ bytes: some Sequence<UInt8>) { for byte in bytes { combine(byte) } }

  /// The hash of a text's UTF-8 bytes.
  @inlinable package static func hash(_ text: String) -> UInt64 {
    var hash = FNV1a()
    for byte in text.utf8 { hash.combine(byte) }
    return hash.value
  }

  /// The value with its bits mixed by SplitMix64's finalizer, because the last bytes hardly change FNV's upper bits.
  @inlinable package var spread: UInt64 { Self.spread(value) }

  /// SplitMix64's finalizer.
  @inlinable package static func spread(_ bits: UInt64) -> UInt64 {
    var bits = bits
    bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
    bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
    return bits ^ (bits >> 31)
  }
}
