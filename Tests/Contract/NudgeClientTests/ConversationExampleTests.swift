import Foundation
import NudgeClient
import TestSupport
import Testing

// The code between the two marks equals that of docs/apps.md. `INPerson` and the like are the stand-ins below.
// example: begin
/// The data by which iOS shows the message as one of a conversation, with the picture of its sender.
func sendMessageIntent(of shown: ConversationNotification, picture: Data?) -> INSendMessageIntent {
  let image = picture.map { INImage(imageData: $0) }
  let sender = INPerson(
    personHandle: INPersonHandle(value: shown.sender.key, type: .unknown), nameComponents: nil,
    displayName: shown.sender.name, image: image, contactIdentifier: nil, customIdentifier: shown.sender.key)
  let intent = INSendMessageIntent(
    recipients: nil, outgoingMessageType: .outgoingMessageText, content: shown.text,
    speakableGroupName: shown.groupName.map { INSpeakableString(spokenPhrase: $0) },
    conversationIdentifier: shown.conversationId, serviceName: nil, sender: sender, attachments: nil)
  // For a group iOS shows the picture of the group; Nudge knows none, so it gets the sender's.
  if shown.groupName != nil { intent.setImage(image, forParameterNamed: \.speakableGroupName) }
  return intent
}

/// A catch-up as rows of a list: a row a conversation, and the way that a tap goes.
func rows(of catchUp: CatchUp) -> [(text: String, route: Route)] {
  catchUp.groups.map { group in
    (group.lines.map { "\($0.title): \($0.text)" }.joined(separator: "\n"), group.route)
  }
}
// example: end

/// Apple's `Intents` as far as the example uses it; it cannot be built where Nudge is tested.
struct INImage: Equatable {
  var imageData: Data
}

struct INPersonHandle: Equatable {
  enum Kind { case unknown }
  var value: String
  var type: Kind
}

struct INPerson {
  var personHandle: INPersonHandle
  var nameComponents: PersonNameComponents?
  var displayName: String
  var image: INImage?
  var contactIdentifier: String?
  var customIdentifier: String
}

struct INSpeakableString {
  var spokenPhrase: String
}

enum INOutgoingMessageType { case outgoingMessageText }

final class INSendMessageIntent {
  let content: String?
  let speakableGroupName: INSpeakableString?
  let conversationIdentifier: String
  let sender: INPerson
  private(set) var groupImage: INImage?

  init(
    recipients: [INPerson]?, outgoingMessageType: INOutgoingMessageType, content: String?,
    speakableGroupName: INSpeakableString?, conversationIdentifier: String, serviceName: String?, sender: INPerson,
    attachments: [Data]?
  ) {
    self.content = content
    self.speakableGroupName = speakableGroupName
    self.conversationIdentifier = conversationIdentifier
    self.sender = sender
  }

  func setImage(_ image: INImage?, forParameterNamed name: KeyPath<INSendMessageIntent, INSpeakableString?>) {
    groupImage = image
  }
}

@Suite("The code of docs/apps.md for conversations")
struct ConversationExampleTests {
  private func shown(_ changes: [String: String]) throws -> ConversationNotification {
    let push = try PushPayload(data: messageData(changes), title: "Ben in Launch", body: "Ready?")
    return try #require(ConversationNotification(push))
  }

  @Test("C10: it makes an intent of a message; the texts are those that the app was given beside the data")
  func intent() throws {
    let picture = Data([1])
    let group = try shown(["senderName": "Ben", "isGroup": "true", "conversationTitle": "Launch"])
    let intent = sendMessageIntent(of: group, picture: picture)
    #expect(intent.sender.displayName == "Ben" && intent.sender.customIdentifier == "ben")
    #expect(intent.sender.personHandle.value == "ben" && intent.sender.image?.imageData == picture)
    #expect(intent.speakableGroupName?.spokenPhrase == "Launch" && intent.conversationIdentifier == "c1")
    #expect(intent.content == "Ready?" && intent.groupImage?.imageData == picture)
    #expect(group.style().messages.map(\.text) == ["Ready?"])
    let direct = sendMessageIntent(of: try shown(["senderName": "Ben"]), picture: picture)
    #expect(direct.groupImage == nil && direct.speakableGroupName == nil && direct.sender.image != nil)
    #expect(sendMessageIntent(of: group, picture: nil).sender.image == nil)
  }

  @Test("D18, C10: it makes rows of a catch-up, each with its conversation's way")
  func catchUp() throws {
    let push = try PushPayload(
      data: [
        "type": "digest", "recipientId": "ada", "pushId": "p9", "presentation": "alert", "messages": "5",
        "conversations": "2",
        "lines": #"[{"conversationId":"c1","messageId":"m2","title":"Ben in Launch","text":"Ready?"},"#
          + #"{"conversationId":"c2","messageId":"m3","title":"Cleo","text":"Lunch?"},"#
          + #"{"conversationId":"c1","messageId":"m1","title":"Dan in Launch","text":"Soon"}]"#,
      ], title: "5 messages in 2 conversations")
    #expect(push.title == "5 messages in 2 conversations")
    guard case .catchUp(let catchUp) = push.content else {
      Issue.record("no catch-up: \(push)")
      return
    }
    #expect(rows(of: catchUp).map(\.text) == ["Ben in Launch: Ready?\nDan in Launch: Soon", "Cleo: Lunch?"])
    #expect(
      rows(of: catchUp).map(\.route) == [
        Route(conversationId: "c1", messageId: "m2"), Route(conversationId: "c2", messageId: "m3"),
      ])
  }

  @Test("The page has this code")
  func documented() throws {
    let source = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
    let begin = try #require(source.range(of: "// example: begin\n"))
    let end = try #require(source.range(of: "// example: end\n"))
    let docs = try String(contentsOf: Repository.file("docs/apps.md"), encoding: .utf8)
    #expect(docs.contains("```swift\n" + source[begin.upperBound..<end.lowerBound] + "```"))
  }
}
