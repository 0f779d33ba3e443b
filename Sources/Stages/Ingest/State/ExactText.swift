import NudgeSchema

/// A text compared by its bytes: ids that Unicode holds to be alike are still different ids.
struct ExactText: Hashable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (a: ExactText, b: ExactText) -> Bool { a.text.isExactly(b.text) }

  func hash(into hasher: inout Hasher) {
    let wasContiguous: Void? = text.utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: .init($0)) }
    if wasContiguous == nil { for byte in text.utf8 { hasher.combine(byte) } }
  }
}

extension String {
  /// Whether both have the same bytes.
  func isExactly(_ other: String) -> Bool { sameId(self, other) }

  /// Whether this sorts before the other by bytes, which is the order of row keys.
  func exactlyPrecedes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}

extension String? {
  /// Whether both are nil, or have the same bytes.
  func isExactly(_ other: String?) -> Bool { sameId(self, other) }
}
