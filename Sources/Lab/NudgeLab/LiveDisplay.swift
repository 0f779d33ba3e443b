import Foundation

/// Shows a run in progress: redrawn in place on a terminal, otherwise as one line every few seconds.
final class LiveDisplay {
  private static let redrawEvery: Duration = .milliseconds(500)
  private static let lineEvery: Duration = .seconds(5)

  private let file: FileHandle
  private let isTerminal: Bool
  private let paint: Paint
  private var shownAt: ContinuousClock.Instant?
  private var drawnLines = 0

  /// Writes to a file. Colours appear on a terminal, unless `NO_COLOR` is set (no-color.org).
  init(_ file: FileHandle, environment: [String: String]) {
    self.file = file
    isTerminal = isatty(file.fileDescriptor) == 1 && environment["TERM"] != "dumb"
    paint = Paint(isOn: isTerminal && environment["NO_COLOR", default: ""].isEmpty)
  }

  /// Prints a line above the redrawn picture.
  func print(_ text: String) {
    write(erasure + text + "\n")
    drawnLines = 0
  }

  /// Shows the view if the interval has passed.
  func update(_ view: @autoclosure () -> PipelineView) {
    let now = ContinuousClock.now
    let interval = isTerminal ? Self.redrawEvery : Self.lineEvery
    if let shownAt, shownAt.duration(to: now) < interval { return }
    // The first line of a log is due after the first interval.
    defer { shownAt = now }
    if isTerminal { return draw(view()) }
    if shownAt != nil { write(view().line + "\n") }
  }

  /// Shows the last view, which stays.
  func finish(_ view: PipelineView) {
    if isTerminal {
      draw(view)
      drawnLines = 0
    }
  }

  /// The colours of text printed below the view.
  var colours: Paint { paint }

  private func draw(_ view: PipelineView) {
    let width = columns
    let lines = view.lines(paint).map { Self.cut($0, to: width) }
    write(erasure + lines.joined(separator: "\n") + "\n")
    drawnLines = lines.count
  }

  /// Moves to the picture's first line, and erases to the end.
  private var erasure: String { drawnLines > 0 ? "\u{1B}[\(drawnLines)A\u{1B}[J" : "" }

  private var columns: Int {
    var size = winsize()
    guard ioctl(file.fileDescriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// Cuts a line to the terminal's width. A line that wraps would take more rows than `erasure` moves back. Escape sequences take no columns.
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

  /// Writes text. A closed terminal must not end the run, whose account still counts.
  private func write(_ text: String) { try? file.write(contentsOf: Data(text.utf8)) }
}

/// Colours text if the terminal and the user allow it.
struct Paint: Sendable {
  let isOn: Bool

  func bold(_ text: String) -> String { painted("1", text) }
  func dim(_ text: String) -> String { painted("2", text) }
  func green(_ text: String) -> String { painted("32", text) }
  func red(_ text: String) -> String { painted("31", text) }

  private func painted(_ code: String, _ text: String) -> String { isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
}
