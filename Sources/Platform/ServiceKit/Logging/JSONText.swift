/// Text as a JSON string literal.
enum JSONText {
  static func quoted(_ text: String) -> String {
    var quoted = "\""
    quoted.reserveCapacity(text.utf8.count + 2)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      case let control where control.value < 0x20 || control.value == 0x7f:
        let hexadecimal = String(control.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - hexadecimal.count) + hexadecimal
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    quoted += "\""
    return quoted
  }
}
