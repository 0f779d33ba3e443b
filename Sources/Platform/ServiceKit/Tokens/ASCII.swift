/// Characters of ASCII as bytes.
package enum ASCII {
  /// The small letter of a capital; any other byte as it is.
  @inlinable package static func lowercased(_ byte: UInt8) -> UInt8 {
    (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
  }
}
