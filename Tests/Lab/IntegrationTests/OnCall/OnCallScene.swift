import Foundation
import NudgeSchema

/// Ann, Bob and Cy on a pipeline, and what happens to them: events by hand, each with its own id.
struct OnCallScene {
  let pipeline: Pipeline

  func device(_ user: String, _ device: String, token: String) -> PublishedEvent {
    PublishedEvent(
      topic: .userEvents, key: user,
      value: ChatLoad.event(
        "device.registered", "r-\(device)-\(token)", ChatLoad.now(),
        #""userId":"\#(user)","deviceId":"\#(device)","token":"\#(token)","platform":"android""#))
  }

  func preferences(_ user: String, _ id: String, _ fields: String, at time: Int64? = nil) -> PublishedEvent {
    PublishedEvent(
      topic: .userEvents, key: user,
      value: ChatLoad.event(
        "preferences.updated", "p-\(user)-\(id)", time ?? ChatLoad.now(),
        #""userId":"\#(user)","preferences":{\#(fields)}"#))
  }

  /// A snapshot of a conversation; `version` tells a later one from the first.
  func conversation(_ id: String, _ members: [String], version: String = "") -> PublishedEvent {
    let list = members.map { #"{"userId":"\#($0)","displayName":"\#($0)"}"# }.joined(separator: ",")
    return PublishedEvent(
      topic: .chatEvents, key: id,
      value: ChatLoad.event(
        "conversation.updated", "c-\(id)\(version)", ChatLoad.now(),
        #""conversationId":"\#(id)","kind":"group","name":"\#(id)","members":[\#(list)]"#))
  }

  func message(
    _ id: String, in conversation: String, from sender: String, mentions: [String] = [], at time: Int64? = nil
  ) -> PublishedEvent {
    let mentioned = mentions.map { "\"\($0)\"" }.joined(separator: ",")
    return PublishedEvent(
      topic: .chatEvents, key: conversation,
      value: ChatLoad.event(
        "message.created", "e-\(id)", time ?? ChatLoad.now(),
        #""conversationId":"\#(conversation)","messageId":"\#(id)","senderId":"\#(sender)","text":"secret words of \#(id)","#
          + #""mentions":[\#(mentioned)]"#))
  }

  /// Publishes events and waits until they are processed.
  func publish(_ events: [PublishedEvent], _ expected: [String: Set<String>]? = nil) throws {
    try pipeline.publisher.publish(events)
    try pipeline.settle(expected)
  }

  /// What `nudge` printed as JSON.
  func json(_ arguments: [String]) throws -> (status: Int32, value: NSDictionary) {
    let (status, output) = try pipeline.nudge(arguments + ["--json"])
    // Standard error, such as progress, comes first.
    guard let line = output.split(separator: "\n").last(where: { $0.hasPrefix("{") }),
      let value = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary
    else {
      throw StillWaiting(description: "no JSON object: \(output)")
    }
    return (status, value)
  }
}
