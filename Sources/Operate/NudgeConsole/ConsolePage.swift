import CConsolePages

/// A static file of the console, which the program contains.
struct ConsolePage: Sendable {
  /// Its name below the console's address.
  let name: String
  /// For Content-Type.
  let type: String
  let bytes: [UInt8]

  /// All of them, by their names.
  static let all: [String: ConsolePage] = {
    var pages: [String: ConsolePage] = [:]
    for index in 0..<console_page_count() {
      let page = console_page_at(index)
      let name = String(cString: page.name)
      pages[name] = ConsolePage(
        name: name, type: String(cString: page.type),
        bytes: Array(UnsafeBufferPointer(start: page.bytes, count: page.size)))
    }
    return pages
  }()
}
