import NudgeSchema
import ServiceKit

enum PublishMessage {
  private static let from = PublishCommand.required("from", "USER", "Who writes.")
  private static let to = Setting<[String]>(
    "to", environment: .none, default: [], placeholder: "USER,…",
    help: "The other members: publishes the conversation with them. Without it, --conversation must be known.")
  private static let text = PublishCommand.optional("text", "TEXT", "What it says.")
  private static let attachment = Setting<AttachmentKind?>(
    "attachment", environment: .none, default: nil, help: "An attachment, with or without a text.")
  private static let conversation = PublishCommand.optional(
    "conversation", "ID", "The conversation. Default with --to: one of these people.")
  private static let group = PublishCommand.optional(
    "group", "NAME", "Makes it a group of this name. Default: direct if --to names one.")
  private static let names = Setting<[String: String]>(
    "name", environment: .none, default: [:], placeholder: "USER=NAME",
    help: "A person's display name. Default: the id.")
  private static let mention = Setting<[String]>(
    "mention", environment: .none, default: [], placeholder: "USER,…", help: "Mentioned people.")
  private static let replyTo = PublishCommand.optional("reply-to", "ID", "The message it answers.")
  private static let messageId = PublishCommand.optional("message-id", "ID", "The message's id. Default: a new one.")

  static let command = Command(
    "message", abstract: "Publishes a message; with --to also who is in the conversation.",
    settings: [from, to, text, attachment, conversation, group, names, mention, replyTo, messageId]
      + PublishCommand.common,
    examples: [
      "nudge publish message --from ann --to bob --text 'Bob, lunch?' --wait --bootstrap-servers kafka:9092",
      "nudge publish message --from ann --conversation c-9 --text 'On my way' --bootstrap-servers kafka:9092",
      "nudge publish message --from ann --to bob,cleo --group Hikers --mention bob --text Ready? "
        + "--bootstrap-servers kafka:9092",
    ]
  ) { input in
    let message = try message(input)
    let event = ChatEvent(PublishCommand.envelope(input, "publish"), .messageCreated(message))
    return try PublishCommand.publish(event, input, awaiting: Set(input[to]).subtracting([input[from]]))
  }

  enum AttachmentKind: String, SettingValue, CaseIterable {
    case image, video, audio, file, location
  }

  static func message(_ input: CommandInput) throws(SettingsError) -> MessageCreated {
    let sender = input[from]
    var snapshot: ConversationSnapshot?
    let others = input[to].filter { !sameId($0, sender) }
    if !others.isEmpty {
      let isGroup = input[group] != nil || others.count > 1
      snapshot = ConversationSnapshot(
        kind: isGroup ? .group : .direct, name: input[group],
        members: ([sender] + others).map { Member(userId: $0, displayName: input[names][$0] ?? $0) })
    } else if input[conversation] == nil {
      throw SettingsError("a message needs --to USER, or a --conversation whose members were published before")
    }
    guard input[text] != nil || input[attachment] != nil else {
      throw SettingsError("a message needs --text or --attachment")
    }
    return MessageCreated(
      conversationId: input[conversation] ?? ([sender] + others).sorted().joined(separator: "-"),
      messageId: input[messageId] ?? PublishCommand.newID("m"), senderId: sender, text: input[text],
      attachments: input[attachment].flatMap { Attachment.Kind(rawValue: $0.rawValue) }.map { [Attachment(kind: $0)] },
      replyTo: input[replyTo], mentions: input[mention].isEmpty ? nil : input[mention], conversation: snapshot)
  }
}
