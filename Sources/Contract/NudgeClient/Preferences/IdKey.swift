/// Stands for an id where the services keep no more than a hash of it: FNV-1a of its UTF-8 bytes in 64 bits, in hexadecimal.
public enum IdKey {
  /// The key of an id.
  public static func of(_ id: String) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in id.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return String(hash, radix: 16)
  }
}
