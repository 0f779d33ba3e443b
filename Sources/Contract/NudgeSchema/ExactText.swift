/// Whether two ids are the same, by their bytes: strings that Unicode holds to be equal are still different ids.
public func sameId(_ a: String, _ b: String) -> Bool {
  // In place where both lie in one piece, as nearly all do.
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

/// An id as the key of a set or dictionary, compared by its bytes as by `sameId`.
package struct ExactText: Hashable, Sendable {
  package let text: String

  package init(_ text: String) { self.text = text }

  package static func == (a: ExactText, b: ExactText) -> Bool { sameId(a.text, b.text) }

  package func hash(into hasher: inout Hasher) {
    let wasContiguous: Void? = text.utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: .init($0)) }
    if wasContiguous == nil { for byte in text.utf8 { hasher.combine(byte) } }
  }
}
