extension String {
  /// The text, or where it has more grapheme clusters or bytes than allowed, its beginning with `…` for the rest (M3).
  ///
  /// - Parameters:
  ///   - characters: Grapheme clusters of the result, the `…` included; 1 or more.
  ///   - bytes: Bytes of the result in UTF-8, the `…` included; 3 or more.
  public func cut(toCharacters characters: Int, bytes: Int = .max) -> String {
    if utf8.count <= min(characters, bytes) { return self }
    let ellipsis = "…"
    var count = 0
    var size = 0
    // The last place at which the text may end with an ellipsis.
    var end = startIndex
    var index = startIndex
    while index < endIndex {
      let next = self.index(after: index)
      count += 1
      size += utf8.distance(from: index, to: next)
      if count > characters || size > bytes { return self[..<end] + ellipsis }
      if count < characters, size + ellipsis.utf8.count <= bytes { end = next }
      index = next
    }
    return self
  }
}
