/// Why topics could not be read, with what to do about it.
struct ReadingError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
