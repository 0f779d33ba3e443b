import Foundation
import Glibc
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
        CommandOutput.report("line \(number): not within \(timeout.settingText): \(text)")
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
    let file = FileHandle(forReadingAtPath: path)
    var status = stat()
    guard let file, fstat(file.fileDescriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
      throw CommandError("\(path) cannot be read: \(FileContent.reason(path))")
    }
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

/// A line of a script for a virtual phone.
enum PhoneScriptLine: Sendable, Equatable {
  /// An action of the owner, or an event on the phone.
  case input(PhoneInput)
  /// Removes and reinstalls the app, for the same owner.
  case reinstall
  case wait(Duration)
  /// Waits for a notification, a banner or a message of the app with this text.
  case waitForText(String)
  /// Waits for this number on the icon.
  case waitForBadge(Int)
  /// Waits until the services have the phone's token.
  case waitForRegistration
  /// Waits until the lock screen is empty.
  case waitForNothing
  /// Prints what the phone shows.
  case show
}

/// Scripts for virtual phones, with one step a line. `#` starts a comment.
enum PhoneScript {
  /// The steps, for the help.
  static let help = """
    sign-in USER · sign-out · reinstall
    open [CONVERSATION] · close · back · write CONVERSATION TEXT · mark-read CONVERSATION
    tap · reply TEXT · read · helpful · not-helpful · dismiss  (of the newest notification)
    offline · online · allow · forbid · previews on|off
    wait DURATION · wait-for TEXT · wait-badge N · wait-registered · wait-empty · show
    """

  private struct Refusal: Error {
    let reason: String
  }

  /// Parses a line. Returns nil for an empty line or a comment.
  /// - Throws: `SettingsError` with the line's number and the valid steps.
  static func line(_ text: String, number: Int) throws(SettingsError) -> PhoneScriptLine? {
    let text = text.trimmingCharacters(in: .whitespaces)
    guard !text.isEmpty, !text.hasPrefix("#") else { return nil }
    let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
    let rest = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : nil
    do throws(Refusal) {
      return try step(parts[0], rest)
    } catch {
      throw SettingsError("line \(number) of the script: \(error.reason)")
    }
  }

  private static func step(_ verb: String, _ rest: String?) throws(Refusal) -> PhoneScriptLine {
    func needed(_ what: String) throws(Refusal) -> String {
      guard let rest, !rest.isEmpty else { throw Refusal(reason: "\(verb) needs \(what)") }
      return rest
    }
    func alone(_ line: PhoneScriptLine) throws(Refusal) -> PhoneScriptLine {
      guard rest == nil else { throw Refusal(reason: "\(verb) takes no argument") }
      return line
    }
    func answer(_ response: NotificationResponse) -> PhoneScriptLine {
      .input(.respond(response, messageId: nil))
    }
    switch verb {
    case "sign-in": return .input(.signIn(userId: try needed("a user id")))
    case "sign-out": return try alone(.input(.signOut))
    case "reinstall": return try alone(.reinstall)
    case "open": return .input(rest.map { .openConversation($0) } ?? .open)
    case "close": return try alone(.input(.close))
    case "back": return try alone(.input(.closeConversation))
    case "write":
      let words = try needed("a conversation and a text").split(separator: " ", maxSplits: 1).map(String.init)
      guard words.count == 2 else { throw Refusal(reason: "write needs a conversation and a text") }
      return .input(.write(words[1], conversationId: words[0]))
    case "mark-read": return .input(.read(conversationId: try needed("a conversation")))
    case "tap": return try alone(answer(.open))
    case "reply": return answer(.reply(try needed("a text")))
    case "read": return try alone(answer(.markRead))
    case "helpful": return try alone(answer(.helpful))
    case "not-helpful": return try alone(answer(.notHelpful))
    case "dismiss": return try alone(answer(.dismiss))
    case "offline": return try alone(.input(.network(false)))
    case "online": return try alone(.input(.network(true)))
    case "allow": return try alone(.input(.allowNotifications(true)))
    case "forbid": return try alone(.input(.allowNotifications(false)))
    case "previews":
      var change = PreferencesChange()
      switch rest {
      case "on": change.showPreviews = true
      case "off": change.showPreviews = false
      default: throw Refusal(reason: "previews needs on or off")
      }
      return .input(.prefer(change))
    case "wait":
      let text = try needed("a duration, such as 500ms")
      guard let duration = try? Duration.parse(text) else {
        throw Refusal(reason: "\(text) is not a duration: use one such as 500ms or 2s")
      }
      return .wait(duration)
    case "wait-for": return .waitForText(try needed("a text"))
    case "wait-badge":
      let text = try needed("a number")
      guard let number = Int(text), number >= 0 else { throw Refusal(reason: "\(text) is not a number of 0 or more") }
      return .waitForBadge(number)
    case "wait-registered": return try alone(.waitForRegistration)
    case "wait-empty": return try alone(.waitForNothing)
    case "show": return try alone(.show)
    default:
      throw Refusal(reason: "\(verb) is not a step of a script; these are:\n\(help)")
    }
  }
}
