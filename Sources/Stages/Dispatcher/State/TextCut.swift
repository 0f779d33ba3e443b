/// Cuts text between grapheme clusters.
enum TextCut {
  /// The text if it takes at most `limit` bytes, else as many of its grapheme clusters as fit before `…`; nil where `…` itself
  /// does not fit. `bytes` measures text; the default is its UTF-8 bytes.
  static func shortened(
    _ text: String, toBytes limit: Int, measuring bytes: (Substring) -> Int = { $0.utf8.count }
  ) -> String? {
    if bytes(text[...]) <= limit { return text }
    let ellipsis = "…"
    var room = limit - ellipsis.utf8.count
    guard room >= 0 else { return nil }
    var end = text.startIndex
    while end < text.endIndex {
      let next = text.index(after: end)
      room -= bytes(text[end..<next])
      guard room >= 0 else { break }
      end = next
    }
    return text[..<end] + ellipsis
  }

  /// The bytes of a text inside a JSON string.
  static func jsonBytes(_ text: Substring) -> Int {
    text.utf8.reduce(0) { $0 + ($1 < 0x20 ? 6 : $1 == 0x22 || $1 == 0x5C ? 2 : 1) }
  }
}
