import Foundation
import NudgeClient
import VirtualPhone

/// A virtual phone on a terminal: the drawn lines and the meaning of each key. A value without I/O.
struct PhoneScreen: Sendable {
  enum Key: Sendable, Equatable {
    case character(Character)
    case up, down, enter, backspace, escape, interrupt
  }

  /// The meaning of a key.
  enum Command: Sendable, Equatable {
    case input(PhoneInput)
    case reinstall
    case quit
  }

  /// The text being typed.
  private enum Typing: Sendable, Equatable {
    case reply(messageId: String?)
    case message(conversationId: String)
    case conversation
    case user

    var question: String {
      switch self {
      case .reply: "Reply"
      case .message(let conversationId): "Message in \(conversationId)"
      case .conversation: "Conversation"
      case .user: "Sign in as"
      }
    }
  }

  private var selected = 0
  private var typing: Typing?
  private var text = ""

  /// Starts with the newest notification selected.
  init() {}

  // MARK: Keys

  /// Handles a key. Returns its meaning. Absent for a key without one.
  mutating func press(_ key: Key, on phone: VirtualPhone) -> Command? {
    if let typing { return type(key, typing) }
    let entries = phone.lockScreen.entries
    let messageId = entries.indices.contains(selected) ? entries[selected].messageId : nil
    func answer(_ response: NotificationResponse) -> Command? {
      entries.isEmpty ? nil : .input(.respond(response, messageId: messageId))
    }
    switch key {
    case .up: selected = max(0, selected - 1)
    case .down: selected = min(max(0, entries.count - 1), selected + 1)
    case .enter, .character("o"): return phone.banner == nil ? answer(.open) : .input(.tapBanner)
    case .character("r"): if !entries.isEmpty { begin(.reply(messageId: messageId)) }
    case .character("m"): return answer(.markRead)
    case .character("+"): return answer(.helpful)
    case .character("-"): return answer(.notHelpful)
    case .character("x"): return answer(.dismiss)
    case .character("a"): return .input(phone.isForeground ? .close : .open)
    case .character("c"): begin(.conversation)
    case .character("b"): return .input(.closeConversation)
    case .character("w"):
      if let conversationId = phone.conversationId { begin(.message(conversationId: conversationId)) }
    case .character("n"): return .input(.network(!phone.isOnline))
    case .character("i"): return .reinstall
    case .character("s"):
      if phone.userId != nil { return .input(.signOut) }
      begin(.user)
    case .character("q"), .interrupt: return .quit
    case .character, .backspace, .escape: break
    }
    return nil
  }

  private mutating func begin(_ what: Typing) {
    typing = what
    text = ""
  }

  private mutating func type(_ key: Key, _ what: Typing) -> Command? {
    switch key {
    case .character(let character): text.append(character)
    case .backspace: if !text.isEmpty { text.removeLast() }
    case .escape: typing = nil
    case .interrupt: return .quit
    case .up, .down: break
    case .enter:
      typing = nil
      let text = text.trimmingCharacters(in: .whitespaces)
      guard !text.isEmpty else { return nil }
      switch what {
      case .reply(let messageId): return .input(.respond(.reply(text), messageId: messageId))
      case .message(let conversationId): return .input(.write(text, conversationId: conversationId))
      case .conversation: return .input(.openConversation(text))
      case .user: return .input(.signIn(userId: text))
      }
    }
    return nil
  }

  // MARK: Drawing

  /// The lines of the terminal, none longer than the width.
  mutating func lines(of phone: VirtualPhone, width: Int, height: Int, _ paint: Paint) -> [String] {
    let entries = phone.lockScreen.entries
    selected = min(selected, max(0, entries.count - 1))
    let owner = phone.userId.map { "\($0)'s phone" } ?? "nobody is signed in"
    let state = "  \(phone.device.platform.rawValue) · \(phone.isOnline ? "online" : "no network")"
    let icon = phone.badge > 0 ? "  💬 \(phone.badge)" : "  💬"
    var top = ["\(paint.bold(owner))\(paint.dim(state))\(icon)", String(repeating: "─", count: max(0, width))]
    switch phone.banner {
    case .message(let banner):
      let sender = paint.bold("▼ \(Self.shown(banner.senderName))")
      top.append("\(sender) \(Self.shown(banner.subtitle() ?? "")): \(Self.shown(banner.preview))")
    case .notice(let notice): top.append(paint.bold("▼ \(Self.shown(notice.text))"))
    case nil: break
    }
    if phone.isForeground {
      top.append(phone.conversationId.map { "in the app: \($0)" } ?? "in the app: all conversations")
    }
    var bottom = ["", phone.lastWord.map { paint.dim("“\(Self.shown($0))”") } ?? ""]
    if let typing {
      bottom.append("\(typing.question): \(text)▏" + paint.dim("  Enter sends, Esc leaves"))
    } else {
      bottom.append(paint.dim("↑↓ choose · o open · r reply · m read · + 👍 · - 👎 · x dismiss"))
      let app = phone.isForeground ? "a app away" : "a app open"
      bottom.append(paint.dim("\(app) · c conversation · b back · w write"))
      let sign = phone.userId == nil ? "s sign in" : "s sign out"
      bottom.append(paint.dim("\(sign) · n network · i reinstall · q quit"))
    }
    let room = max(0, height - top.count - bottom.count)
    let middle = entries.isEmpty ? [paint.dim("nothing on the lock screen")] : notifications(entries, room, paint)
    let filled = Array(middle.prefix(room)) + Array(repeating: "", count: max(0, room - middle.count))
    return (top + filled + bottom).prefix(height).map { LiveDisplay.cut($0, to: width) }
  }

  /// As many notifications as fit, of two lines each, with the selected one among them.
  private func notifications(_ entries: [LockScreen.Entry], _ room: Int, _ paint: Paint) -> [String] {
    let count = max(1, room / 2)
    let first = max(0, min(selected - count + 1, entries.count - count))
    return entries.indices.dropFirst(first).prefix(count).flatMap { index in
      let entry = entries[index]
      let title = "\(index == selected ? "❯" : " ") \(entry.isAlert ? "🔔" : "  ") \(Self.shown(entry.title))"
      let more = entry.replaced > 0 ? paint.dim(" ↻\(entry.replaced)") : ""
      return [
        (entry.isAlert ? paint.bold(title) : title) + more + (entry.hasPicture ? " 🖼" : ""),
        "     \(Self.shown(entry.body))",
      ]
    }
  }

  /// Another person's text on one line, without control characters.
  private static func shown(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
  }

  // MARK: Bytes

  /// Decodes keys from a terminal in raw mode. Incomplete input stays in `bytes`, except a single escape.
  static func keys(in bytes: inout [UInt8]) -> [Key] {
    var keys: [Key] = []
    while let byte = bytes.first {
      switch byte {
      case 0x03, 0x04: keys.append(.interrupt)
      case 0x0A, 0x0D: keys.append(.enter)
      case 0x08, 0x7F: keys.append(.backspace)
      case 0x1B:
        guard bytes.count >= 3, bytes[1] == 0x5B || bytes[1] == 0x4F else {
          keys.append(.escape)
          break
        }
        if bytes[2] == 0x41 { keys.append(.up) }
        if bytes[2] == 0x42 { keys.append(.down) }
        // An unknown sequence is skipped up to its final byte.
        let end = bytes[2...].firstIndex { (0x40...0x7E).contains($0) } ?? bytes.count - 1
        bytes.removeFirst(end)
      case 0x20...0x7E: keys.append(.character(Character(Unicode.Scalar(byte))))
      case 0xC2...0xF4:
        let length = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
        guard bytes.count >= length else { return keys }
        if let text = String(validating: bytes[..<length], as: UTF8.self), let character = text.first {
          keys.append(.character(character))
        }
        bytes.removeFirst(length - 1)
      default: break
      }
      bytes.removeFirst()
    }
    return keys
  }
}
