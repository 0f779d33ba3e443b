import JSONCodec
import NudgeSchema

/// A record of `nudge.banners` that goes to the streams of its person: its type is the event's name, its JSON the data.
struct LiveEvent: Sendable {
  let person: ExactText
  private let name: String
  private let value: [UInt8]

  /// Nil for what has no key, is no JSON object with a type, or is for the HTTP API itself.
  init?(key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?, _ parser: JSONParser) {
    guard let key, let value, let person = String(validating: key, as: UTF8.self), let node = try? parser.parse(value),
      let name = node["type"]?.string, name != EventType.personAnswered.rawValue, ServerSentEvent.isName(name)
    else { return nil }
    self.person = ExactText(person)
    self.name = name
    self.value = [UInt8](value)
  }

  /// As it is sent.
  func bytes(id: LivePosition) -> [UInt8] { ServerSentEvent.event(name, value, id: id) }
}
