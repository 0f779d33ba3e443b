/// Why a demo cannot go on: what failed, and what can be done.
struct DemoError: Error, Equatable, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
