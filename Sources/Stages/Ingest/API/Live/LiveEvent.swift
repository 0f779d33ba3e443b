import JSONCodec
import NudgeSchema

/// A record of `nudge.banners` for the streams of its person. Its type is the event's name, its JSON the event's data.
struct LiveEvent: Sendable {
  let person: ExactText
  private let name: String
  private let value: [UInt8]

  /// Nil if the record has no key, is not a JSON object with a type, or is meant for the HTTP API itself.
  init?(key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?, _ parser: JSONParser) {
    guard let key, let value, let person = String(validating: key, as: UTF8.self), let node = try? parser.parse(value),
      let name = node["type"]?.string, name != EventType.personAnswered.rawValue, ServerSentEvent.isName(name)
    else { return nil }
    self.person = ExactText(person)
    self.name = name
    self.value = [UInt8](value)
  }

  /// The event in the form in which it is sent.
  func bytes(id: LivePosition) -> [UInt8] { ServerSentEvent.event(name, value, id: id) }
}
