import Foundation
import NudgeClient
import VirtualPhone

/// Something a virtual phone showed or did, as a line of JSON for scripts or a line of text for people.
struct PhoneNoteLine: Encodable {
  /// Milliseconds since the epoch.
  let at: Int64
  let device: String
  /// The signed-in user. Absent while nobody is signed in.
  let user: String?
  /// The kind: `shown`, `badge`, `told` and so on.
  let note: String
  var title: String?
  var body: String?
  var conversationId: String?
  var messageId: String?
  var pushId: String?
  /// The options of the notification: `banner`, `list`, `sound`, `badge`.
  var options: [String]?
  /// How the push asked to be presented: `alert` or `silent`.
  var presentation: PushPayload.Presentation?
  var badge: Int?
  var count: Int?
  var text: String?
  /// The notifications on the lock screen. Only in the line of `show`.
  var lockScreen: [LockScreen.Entry]?

  init(_ note: PhoneNote, of phone: VirtualPhone, at time: Date) {
    self.init(Self.name(of: note), of: phone, at: time)
    switch note {
    case .received(let push):
      pushId = push.pushId
      conversationId = push.conversationId
      messageId = push.messageId
    case .shown(let entry, let options, let push):
      title = entry.title
      body = entry.body
      conversationId = entry.thread
      messageId = entry.messageId
      pushId = push.pushId
      self.options = Self.names(of: options)
      presentation = entry.presentation
    case .removed(let entries):
      count = entries.count
      conversationId = entries.first?.thread
    case .badge(let number): badge = number
    case .dropped(let pushId, _, let reason):
      self.pushId = pushId
      text =
        switch reason {
        case .otherRecipient: "for somebody else"
        case .openConversation: "the conversation is open"
        case .alreadyShown: "shown already"
        case .takenBack: "deleted before it arrived"
        case .alreadyRead: "read already"
        }
    case .lapsed(let pushId): self.pushId = pushId
    case .messagesDeleted, .synchronized: break
    case .bannerShown(.message(let banner)):
      title = banner.senderName
      body = banner.preview
      conversationId = banner.conversationId
      messageId = banner.messageId
    case .bannerShown(.notice(let notice)): text = notice.text
    case .bannerHidden(.message(let banner)): messageId = banner.messageId
    case .bannerHidden(.notice): break
    case .listed(let entry):
      title = entry.title
      body = entry.body
      conversationId = entry.thread
      messageId = entry.messageId
    case .highlighted(let messageId): self.messageId = messageId
    case .told(let text), .log(let text), .fault(let text): self.text = text
    case .opened(let conversationId): self.conversationId = conversationId
    case .settingsBanner(let isShown): text = isShown ? "shown" : "hidden"
    case .network(let isOnline): text = isOnline ? "online" : "offline"
    case .signedIn(let userId), .signedOut(let userId), .registered(let userId): text = userId
    }
  }

  /// Makes a line with everything that the phone shows.
  init(showing phone: VirtualPhone, at time: Date) {
    self.init("show", of: phone, at: time)
    badge = phone.badge
    lockScreen = phone.lockScreen.entries
    conversationId = phone.isForeground ? phone.conversationId : nil
    text = phone.lastWord
  }

  private init(_ note: String, of phone: VirtualPhone, at time: Date) {
    at = Int64(time.timeIntervalSince1970 * 1_000)
    device = phone.device.deviceId
    user = phone.userId
    self.note = note
  }

  /// The line for people, without time and device.
  var words: String {
    let details: [String?] = [
      title.map { title in body.map { "\(title): \($0)" } ?? title }, options.map { $0.joined(separator: "+") },
      badge.map { String($0) }, count.map { String($0) }, text, title == nil ? conversationId : nil,
    ]
    let parts = details.compactMap(\.self)
    return parts.isEmpty ? note : "\(note) \(parts.joined(separator: " · "))"
  }

  private static func name(of note: PhoneNote) -> String {
    switch note {
    case .received: "received"
    case .shown: "shown"
    case .removed: "removed"
    case .badge: "badge"
    case .dropped: "dropped"
    case .lapsed: "lapsed"
    case .messagesDeleted: "messages-deleted"
    case .synchronized: "synchronized"
    case .bannerShown(.message): "banner"
    case .bannerShown(.notice): "notice"
    case .bannerHidden: "banner-hidden"
    case .listed: "listed"
    case .told: "told"
    case .opened: "opened"
    case .highlighted: "highlighted"
    case .signedIn: "signed-in"
    case .signedOut: "signed-out"
    case .registered: "registered"
    case .settingsBanner: "settings-banner"
    case .network: "network"
    case .log: "log"
    case .fault: "fault"
    }
  }

  private static func names(of options: PresentationOptions) -> [String] {
    let all: [(PresentationOptions, String)] = [
      (.banner, "banner"), (.list, "list"), (.sound, "sound"), (.badge, "badge"),
    ]
    return all.filter { options.contains($0.0) }.map(\.1)
  }
}
