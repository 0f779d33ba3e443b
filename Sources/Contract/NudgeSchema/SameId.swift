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
