import Foundation
import NudgeClient
import ServiceKit
import VirtualPhone

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
