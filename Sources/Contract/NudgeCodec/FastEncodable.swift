import JSONCodec
import NudgeSchema

/// A value that is written as the fields of an object. Fields that are nil are left out.
protocol FastEncodable {
  /// Writes the fields, without the object's brackets.
  func writeFields(to json: inout JSONWriter)
}

extension JSONWriter {
  mutating func object(_ key: StaticString, _ value: some FastEncodable) {
    self.key(key)
    object(value)
  }

  mutating func object(_ key: StaticString, ifPresent value: (some FastEncodable)?) {
    if let value { object(key, value) }
  }

  mutating func object(_ value: some FastEncodable) {
    beginObject()
    value.writeFields(to: &self)
    endObject()
  }

  mutating func objects(_ key: StaticString, _ values: [some FastEncodable]) {
    self.key(key)
    beginArray()
    for value in values { object(value) }
    endArray()
  }

  mutating func texts(_ key: StaticString, _ texts: [String]) {
    self.key(key)
    beginArray()
    for text in texts { value(text) }
    endArray()
  }

  mutating func choice(_ key: StaticString, _ choice: some RawRepresentable<String>) { field(key, choice.rawValue) }

  mutating func choice(_ key: StaticString, ifPresent choice: (some RawRepresentable<String>)?) {
    if let choice { field(key, choice.rawValue) }
  }
}
