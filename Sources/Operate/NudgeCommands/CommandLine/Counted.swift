extension BinaryInteger {
  /// The number with its noun: `1 push`, `2 pushes`. A noun without a plural of its own gets an s.
  package func counted(_ one: String, _ many: String? = nil) -> String {
    "\(self) \(self == 1 ? one : many ?? one + "s")"
  }
}
