/// Texts without the secrets that URLs and headers hold: for `--print-config`, logs, errors and support bundles.
///
/// A URL keeps its scheme, host and port. The rest often holds a login or a token.
public enum PublicText {
  /// Stands for what is left out of a URL.
  private static let hidden = "…"

  /// A setting's value: one URL, or several with commas. Any other value stays as it is.
  public static func value(_ text: String) -> String {
    let isURL = text.contains("://")
    guard isURL || text.contains("@") else { return text }
    // A login may hold commas, so a list with a login is one URL that cannot be read.
    guard !text.contains("@") else { return origin(of: text) }
    return text.split(separator: ",", omittingEmptySubsequences: false).map { part in
      part.contains("://") ? origin(of: String(part)) : String(part)
    }.joined(separator: ",")
  }

  /// `https://host:4318` of a URL; `https://…` if its host is not certain; `…` without a scheme.
  public static func origin(of url: String) -> String {
    guard let start = url.firstRange(of: "://") else { return hidden }
    let scheme = url[..<start.lowerBound]
    guard !scheme.isEmpty, scheme.utf8.allSatisfy(isNameByte) else { return hidden }
    let rest = url[start.upperBound...]
    let end = rest.firstIndex { "/?#\\".contains($0) } ?? rest.endIndex
    var authority = rest[..<end]
    switch rest.count(where: { $0 == "@" }) {
    case 0: break
    case 1 where authority.contains("@"):
      authority = authority.split(separator: "@", omittingEmptySubsequences: false)[1]
    // A login with a slash, or a path with an @: which of them is the host is not certain.
    default: return "\(scheme)://\(hidden)"
    }
    return isHost(authority) ? "\(scheme)://\(authority)" : "\(scheme)://\(hidden)"
  }

  /// A line of a log or a page: URLs as origins, and no word after `Bearer` or `Basic`.
  public static func line(_ text: String) -> String {
    var shown = ""
    var rest = text[...]
    // JSON may write a slash as `\/`.
    while let start = [rest.firstRange(of: "://"), rest.firstRange(of: #":\/\/"#)].compactMap({ $0 }).min(by: {
      $0.lowerBound < $1.lowerBound
    }) {
      let scheme = rest[..<start.lowerBound]
      let begin =
        scheme.lastIndex { !$0.utf8.allSatisfy(isNameByte) }.map { scheme.index(after: $0) } ?? scheme.startIndex
      let end = rest[start.upperBound...].firstIndex { "\"'<>".contains($0) || $0.isWhitespace } ?? rest.endIndex
      shown += rest[..<begin]
      shown += origin(of: String(rest[begin..<end]).replacing(#"\/"#, with: "/"))
      rest = rest[end...]
    }
    shown += rest
    return withoutCredentials(shown)
  }

  private static func withoutCredentials(_ text: String) -> String {
    var text = text
    for scheme in ["bearer ", "basic "] where text.lowercased().contains(scheme) {
      let words = text.split(separator: " ", omittingEmptySubsequences: false)
      text = zip(words, [""] + words.map(String.init)).map { word, before in
        let isCredential = before.lowercased().hasSuffix(scheme.dropLast()) && word.utf8.count >= 8
        return isCredential ? hidden : String(word)
      }.joined(separator: " ")
    }
    return text
  }

  /// A name or address, with a port or without.
  private static func isHost(_ text: Substring) -> Bool {
    var host = text
    if let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") {
      let port = text[text.index(after: colon)...]
      guard port.utf8.count <= 5, port.utf8.allSatisfy({ (48...57).contains($0) }) else { return false }
      host = text[..<colon]
    }
    if host.hasPrefix("["), host.hasSuffix("]") {
      return host.dropFirst().dropLast().utf8.allSatisfy { $0 == 58 || $0 == 46 || isHexadecimal($0) }
    }
    return !host.isEmpty && host.utf8.allSatisfy(isNameByte)
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || "-._+".utf8.contains(byte)
  }
}
