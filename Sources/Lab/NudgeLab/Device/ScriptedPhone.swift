import Foundation
import NudgeClient
import NudgeCommands
import ServiceKit
import VirtualPhone

/// A phone driven by a script, from a file or line by line from a pipe.
final class ScriptedPhone {
  private let fleet: PhoneFleet
  private let phone: Int
  private let timeout: Duration
  private let print: (PhoneNoteLine) throws -> Void
  private var texts: [String] = []
  private var isRegistered = false
  private var faults = 0
  private var failure: (any Error)?

  /// - Parameters:
  ///   - timeout: The limit of each step that waits for something.
  ///   - print: Called with everything that the phone shows or does.
  init(_ fleet: PhoneFleet, phone: Int, timeout: Duration, print: @escaping (PhoneNoteLine) throws -> Void) {
    self.fleet = fleet
    self.phone = phone
    self.timeout = timeout
    self.print = print
    fleet.onSight = { [weak self] sight in self?.see(sight) }
  }

  /// Plays the lines until their end or `isInterrupted`, then waits until the phone's events are published.
  /// - Returns: Whether every step that waits succeeded, and the phone showed nothing contradictory.
  /// - Throws: `SettingsError` for an invalid line. Errors of the publisher and the streams.
  func play(_ lines: ScriptLines, isInterrupted: () -> Bool) throws -> Bool {
    while !isInterrupted(), let (text, number) = try lines.next(meanwhile: { try turn() }) {
      guard let line = try PhoneScript.line(text, number: number) else { continue }
      guard try carryOut(line, isInterrupted) else {
        FileHandle.standardError.write(Data("line \(number): not within \(timeout.settingText): \(text)\n".utf8))
        return false
      }
    }
    let isDone = try fleet.turn(until: { isInterrupted() || fleet.openEvents == 0 }, within: timeout)
    return isDone && faults == 0
  }

  private func turn() throws {
    try fleet.turn()
    if let failure { throw failure }
  }

  private func carryOut(_ line: PhoneScriptLine, _ isInterrupted: () -> Bool) throws -> Bool {
    func wait(_ condition: () -> Bool, _ limit: Duration) throws -> Bool {
      try fleet.turn(until: { isInterrupted() || condition() }, within: limit)
    }
    switch line {
    case .input(let input):
      if case .signIn = input { isRegistered = false }
      try fleet.send(phone, input)
    case .reinstall:
      isRegistered = false
      try fleet.reinstall(phone)
    case .wait(let duration): _ = try wait({ false }, duration)
    case .waitForText(let text): return try wait({ shows(text) }, timeout)
    case .waitForBadge(let number): return try wait({ fleet.phones[phone].badge == number }, timeout)
    case .waitForRegistration: return try wait({ isRegistered }, timeout)
    case .waitForNothing: return try wait({ fleet.phones[phone].lockScreen.entries.isEmpty }, timeout)
    case .show: try print(PhoneNoteLine(showing: fleet.phones[phone], at: Date()))
    }
    if let failure { throw failure }
    return true
  }

  private func shows(_ text: String) -> Bool {
    if let found = texts.firstIndex(where: { $0.contains(text) }) {
      // A later step that waits for the same text must find it again.
      texts.removeSubrange(...found)
      return true
    }
    return false
  }

  private func see(_ sight: PhoneFleet.Sight) {
    switch sight.note {
    case .shown(let entry, _, _): texts.append("\(entry.title)\n\(entry.body)")
    case .bannerShown(.message(let banner)): texts.append("\(banner.senderName)\n\(banner.preview)")
    case .bannerShown(.notice(let notice)): texts.append(notice.text)
    case .told(let text): texts.append(text)
    case .registered: isRegistered = true
    case .fault: faults += 1
    default: break
    }
    do {
      try print(PhoneNoteLine(sight.note, of: fleet.phones[sight.phone], at: sight.at))
    } catch {
      // The reader of the output has ended.
      failure = error
    }
  }
}

/// The lines of a script, from a file or a pipe that is still written to. Not thread-safe.
final class ScriptLines {
  private let descriptor: Int32
  private let file: FileHandle?
  private var rest: [UInt8] = []
  private var isAtEnd = false
  private var number = 0

  /// Opens the file. Absent: standard input.
  /// - Throws: An error if the file cannot be read.
  init(path: String?) throws {
    guard let path, path != "-" else {
      descriptor = STDIN_FILENO
      file = nil
      return
    }
    guard let file = FileHandle(forReadingAtPath: path) else { throw CommandError("\(path) cannot be read") }
    self.file = file
    descriptor = file.fileDescriptor
  }

  /// The next line and its number, from 1. Absent at the end. Calls `meanwhile` repeatedly while it waits.
  func next(meanwhile: () throws -> Void) throws -> (text: String, number: Int)? {
    while true {
      if let end = rest.firstIndex(of: 0x0A) {
        let line = String(decoding: rest[..<end], as: UTF8.self)
        rest.removeSubrange(...end)
        number += 1
        return (line, number)
      }
      if isAtEnd {
        guard !rest.isEmpty else { return nil }
        let line = String(decoding: rest, as: UTF8.self)
        rest = []
        number += 1
        return (line, number)
      }
      var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&wanted, 1, 0) > 0 else {
        try meanwhile()
        continue
      }
      var buffer = [UInt8](repeating: 0, count: 4_096)
      let count = read(descriptor, &buffer, buffer.count)
      if count > 0 { rest += buffer[..<count] } else { isAtEnd = true }
    }
  }
}
