import ServiceKit

/// The file of `--otlp-headers-file`: a header a line, `NAME: VALUE`. Empty lines and those that begin with `#` count for nothing.
enum SpanHeaders {
  /// Those that HTTP's client sets.
  private static let reserved: Set<String> = [
    "content-type", "content-length", "transfer-encoding", "host", "connection",
  ]

  /// - Throws: `SettingsError`, which names file and line, not the line's text.
  static func parse(_ bytes: [UInt8], of path: String) throws(SettingsError) -> [(name: String, value: String)] {
    var headers: [(name: String, value: String)] = []
    let lines = String(decoding: bytes, as: UTF8.self).split(
      omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (number, line) in lines.enumerated() {
      let line = line.trimmed
      if line.isEmpty || line.hasPrefix("#") { continue }
      guard let colon = line.firstIndex(of: ":"), case let name = line[..<colon].lowercased(), isToken(name),
        !reserved.contains(name)
      else {
        throw SettingsError("\(path), line \(number + 1): a header is NAME: VALUE, such as Authorization: Bearer …")
      }
      let value = line[line.index(after: colon)...].trimmed
      guard isValue(value) else {
        throw SettingsError("\(path), line \(number + 1): the value of \(name) is empty, or not printable ASCII")
      }
      headers.append((name, String(value)))
    }
    return headers
  }

  /// Those of `--otlp-headers`.
  /// - Throws: `SettingsError`, which names the entry by its number.
  static func parse(list text: String) throws(SettingsError) -> [(name: String, value: String)] {
    var headers: [(name: String, value: String)] = []
    for (number, entry) in try OTLPList.parse(text, of: ServiceSettings.otlpHeaders.name).enumerated() {
      let name = entry.name.lowercased()
      guard isToken(name), !reserved.contains(name), isValue(entry.value[...]) else {
        throw SettingsError(
          "--\(ServiceSettings.otlpHeaders.name), entry \(number + 1): a header is NAME=VALUE, such as authorization=Bearer%20…"
        )
      }
      headers.append((name, entry.value))
    }
    return headers
  }

  /// RFC 9110, section 5.5, in ASCII.
  private static func isValue(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 == 9 || (0x20...0x7e).contains($0) }
  }

  /// RFC 9110, section 5.6.2.
  private static func isToken(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { byte in
        (48...57).contains(byte) || (97...122).contains(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
      }
  }
}
