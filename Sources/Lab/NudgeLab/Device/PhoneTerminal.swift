import Foundation
import NudgeCommands
import VirtualPhone

/// The terminal of a person who holds a virtual phone: full screen in raw mode, restored at the end.
final class PhoneTerminal {
  private var former = termios()
  private var isRaw = false
  private var bytes: [UInt8] = []
  private var drawn: [String] = []

  /// Whether input and output are terminals.
  static var isThere: Bool {
    isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
      && ProcessInfo.processInfo.environment["TERM"].map { $0 != "dumb" } ?? false
  }

  /// Switches the terminal to raw mode.
  /// - Throws: `CommandError` if standard input is not a terminal.
  init() throws {
    guard tcgetattr(STDIN_FILENO, &former) == 0 else { throw CommandError("standard input is not a terminal") }
    var raw = former
    cfmakeraw(&raw)
    guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) == 0 else {
      throw CommandError("the terminal does not support raw mode")
    }
    isRaw = true
    // The alternate screen, without cursor and line wrap: a line that is too long because of wide characters ends at the edge.
    write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l")
  }

  deinit { restore() }

  /// Restores the terminal. A second call does nothing.
  func restore() {
    guard isRaw else { return }
    isRaw = false
    write("\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &former)
  }

  /// The keys pressed since the last call. The end of input counts as an interrupt.
  func keys() -> [PhoneScreen.Key] {
    var wanted = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    guard poll(&wanted, 1, 0) > 0 else { return [] }
    var buffer = [UInt8](repeating: 0, count: 1_024)
    let count = read(STDIN_FILENO, &buffer, buffer.count)
    guard count > 0 else { return [.interrupt] }
    bytes += buffer[..<count]
    return PhoneScreen.keys(in: &bytes)
  }

  /// Columns and rows.
  var size: (width: Int, height: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Redraws the screen if the lines differ from the last ones.
  func draw(_ lines: [String]) {
    guard lines != drawn else { return }
    drawn = lines
    // One write that clears the rest of each line does not flicker.
    write("\u{1B}[H" + lines.map { "\($0)\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J")
  }

  private func write(_ text: String) { try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8)) }
}

/// A virtual phone held by a person.
enum HeldPhone {
  /// Shows the phone and handles keys until the person quits or `isInterrupted`.
  static func hold(_ phone: Int, of fleet: PhoneFleet, paint: Paint, isInterrupted: () -> Bool) throws {
    let terminal = try PhoneTerminal()
    defer { terminal.restore() }
    var screen = PhoneScreen()
    while !isInterrupted() {
      let (width, height) = terminal.size
      terminal.draw(screen.lines(of: fleet.phones[phone], width: width, height: height, paint))
      for key in terminal.keys() {
        switch screen.press(key, on: fleet.phones[phone]) {
        case .input(let input): try fleet.send(phone, input)
        case .reinstall: try fleet.reinstall(phone)
        case .quit: return
        case nil: break
        }
      }
      try fleet.turn(waiting: .milliseconds(20))
    }
  }
}
