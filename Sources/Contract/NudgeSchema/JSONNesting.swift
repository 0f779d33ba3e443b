/// The depth to which JSON may be nested. Foundation's decoder overflows the stack on deeper documents.
///
/// That refuses what is deeper, but on Linux it may end the process while it does: it looks for the line of the error behind the end of
/// the text where the bracket too many is the last byte, or a carriage return follows it (seen with Swift 6.3.1: 513 times `[`). So what
/// anybody may send is looked at first.
public enum JSONNesting {
  /// Arrays and objects within one another that are taken.
  public static let limit = 512

  /// Whether text that may be JSON keeps to the limit, as far as it is JSON.
  public static func fits(_ text: UnsafeRawBufferPointer) -> Bool {
    var depth = 0
    var isInString = false
    var isEscaped = false
    for byte in text {
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        depth += 1
        if depth > limit { return false }
      case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
      default: break
      }
    }
    return true
  }
}
