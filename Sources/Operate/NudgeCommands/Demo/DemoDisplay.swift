import Foundation

/// Shows a demo as it goes: redrawn in place on a terminal, else as a line every few seconds.
final class DemoDisplay {
  private static let redrawEvery: Duration = .milliseconds(500)
  private static let lineEvery: Duration = .seconds(5)

  private let file: FileHandle
  private let isTerminal: Bool
  private let paint: Paint
  private var shownAt: ContinuousClock.Instant?
  private var drawnLines = 0

  /// A display on a file. Colours are for terminals, and not where `NO_COLOR` is set (no-color.org).
  init(_ file: FileHandle, environment: [String: String]) {
    self.file = file
    isTerminal = isatty(file.fileDescriptor) == 1 && environment["TERM"] != "dumb"
    paint = Paint(isOn: isTerminal && environment["NO_COLOR", default: ""].isEmpty)
  }

  /// Says something once; it stays above what is redrawn.
  func say(_ text: String) {
    write(erasure + text + "\n")
    drawnLines = 0
  }

  /// Shows how things are, if it is time.
  func update(_ view: @autoclosure () -> DemoView) {
    let now = ContinuousClock.now
    let interval = isTerminal ? Self.redrawEvery : Self.lineEvery
    if let shownAt, shownAt.duration(to: now) < interval { return }
    // The first line of a log is due after the first interval.
    defer { shownAt = now }
    if isTerminal { return draw(view()) }
    if shownAt != nil { write(view().line + "\n") }
  }

  /// Shows how things have ended; it stays.
  func finish(_ view: DemoView) {
    if isTerminal {
      draw(view)
      drawnLines = 0
    }
  }

  /// What is written beneath uses the same colours.
  var colours: Paint { paint }

  private func draw(_ view: DemoView) {
    let width = columns
    let lines = view.lines(paint).map { Self.cut($0, to: width) }
    write(erasure + lines.joined(separator: "\n") + "\n")
    drawnLines = lines.count
  }

  /// Back to the first line of what was drawn, and all beneath it gone.
  private var erasure: String { drawnLines > 0 ? "\u{1B}[\(drawnLines)A\u{1B}[J" : "" }

  private var columns: Int {
    var size = winsize()
    guard ioctl(file.fileDescriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// A line that wraps would be two, and the way back to the first line wrong. Escape sequences take no room.
  static func cut(_ line: String, to width: Int) -> String {
    var shown = ""
    var used = 0
    var isEscape = false
    for character in line {
      if character == "\u{1B}" { isEscape = true }
      if isEscape {
        shown.append(character)
        if character == "m" { isEscape = false }
        continue
      }
      guard used < width else { continue }
      used += 1
      shown.append(character)
    }
    return shown
  }

  /// A terminal that is gone must not end the demo: its account still counts.
  private func write(_ text: String) { try? file.write(contentsOf: Data(text.utf8)) }
}
