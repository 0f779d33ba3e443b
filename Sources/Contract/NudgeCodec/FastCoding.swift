import JSONCodec
import NudgeSchema

/// This decoder cannot read the record. `RecordCoder` reads it or reports the error.
struct FallBackToCodable: Error {}

/// A value that is decoded from an object's fields.
protocol FastDecodable {
  /// Reads the fields, and ignores those that it does not know.
  init(_ fields: JSONNode) throws(FallBackToCodable)
}

/// The body of an event that is decoded directly.
protocol FastDecodableBody: EventBody {
  init(type: EventType, _ fields: JSONNode) throws(FallBackToCodable)
}

extension FastDecodableBody {
  @inline(__always)
  static func envelopeAndBody(_ fields: JSONNode) throws(FallBackToCodable) -> (Envelope, Self) {
    guard try fields.integer("schemaVersion") == Int64(currentSchemaVersion),
      let type = fields["type"].flatMap({ EventType($0) })
    else {
      throw FallBackToCodable()
    }
    return (try Envelope(fields), try Self(type: type, fields))
  }
}

extension EventType {
  /// A lookup by the name's hash is faster than a comparison with each name.
  private static let byHash = Dictionary(uniqueKeysWithValues: allCases.map { (FNV1a.hash($0.rawValue), $0) })

  /// The type that a string names; nil if it names none.
  init?(_ node: JSONNode) {
    guard let bytes = node.utf8 else { return nil }
    var hash = FNV1a()
    hash.combine(bytes)
    guard let type = Self.byHash[hash.value] else { return nil }
    var name = type.rawValue
    guard name.withUTF8({ $0.elementsEqual(bytes) }) else { return nil }
    self = type
  }
}

/// Fields by name. The first of a repeated field counts. Null counts as absent for optional fields.
extension JSONNode {
  func text(_ key: StaticString) throws(FallBackToCodable) -> String { try Self.text(self[key]) }

  func text(ifPresent key: StaticString) throws(FallBackToCodable) -> String? {
    guard let node = value(ifPresent: key) else { return nil }
    return try Self.text(node)
  }

  /// An integer without a fraction or an exponent.
  func integer(_ key: StaticString) throws(FallBackToCodable) -> Int64 { try Self.integer(self[key]) }

  func integer(ifPresent key: StaticString) throws(FallBackToCodable) -> Int64? {
    guard let node = value(ifPresent: key) else { return nil }
    return try Self.integer(node)
  }

  func int(_ key: StaticString) throws(FallBackToCodable) -> Int { Int(try integer(key)) }

  func int(ifPresent key: StaticString) throws(FallBackToCodable) -> Int? {
    try integer(ifPresent: key).map { Int($0) }
  }

  func int32(_ key: StaticString) throws(FallBackToCodable) -> Int32 { try Self.int32(integer(key)) }

  func int32(ifPresent key: StaticString) throws(FallBackToCodable) -> Int32? {
    guard let integer = try integer(ifPresent: key) else { return nil }
    return try Self.int32(integer)
  }

  func flag(_ key: StaticString) throws(FallBackToCodable) -> Bool {
    guard let flag = self[key]?.bool else { throw FallBackToCodable() }
    return flag
  }

  func flag(ifPresent key: StaticString) throws(FallBackToCodable) -> Bool? {
    guard let node = value(ifPresent: key) else { return nil }
    guard let flag = node.bool else { throw FallBackToCodable() }
    return flag
  }

  func choice<Choice: RawRepresentable<String>>(_ key: StaticString) throws(FallBackToCodable) -> Choice {
    guard let choice = Choice(rawValue: try text(key)) else { throw FallBackToCodable() }
    return choice
  }

  func choice<Choice: RawRepresentable<String>>(ifPresent key: StaticString) throws(FallBackToCodable) -> Choice? {
    value(ifPresent: key) == nil ? nil : try choice(key)
  }

  func object<Value: FastDecodable>(_ key: StaticString) throws(FallBackToCodable) -> Value {
    guard let node = self[key] else { throw FallBackToCodable() }
    return try Value(node)
  }

  func object<Value: FastDecodable>(ifPresent key: StaticString) throws(FallBackToCodable) -> Value? {
    guard let node = value(ifPresent: key) else { return nil }
    // A type without required fields would otherwise be decoded from any value.
    guard node.kind == .object else { throw FallBackToCodable() }
    return try Value(node)
  }

  func objects<Value: FastDecodable>(_ key: StaticString) throws(FallBackToCodable) -> [Value] {
    guard let elements = self[key]?.elements else { throw FallBackToCodable() }
    var values: [Value] = []
    for element in elements { values.append(try Value(element)) }
    return values
  }

  func objects<Value: FastDecodable>(ifPresent key: StaticString) throws(FallBackToCodable) -> [Value]? {
    value(ifPresent: key) == nil ? nil : try objects(key)
  }

  func texts(_ key: StaticString) throws(FallBackToCodable) -> [String] {
    guard let elements = self[key]?.elements else { throw FallBackToCodable() }
    var texts: [String] = []
    for element in elements { texts.append(try Self.text(element)) }
    return texts
  }

  func texts(ifPresent key: StaticString) throws(FallBackToCodable) -> [String]? {
    value(ifPresent: key) == nil ? nil : try texts(key)
  }

  private func value(ifPresent key: StaticString) -> JSONNode? {
    guard let node = self[key], !node.isNull else { return nil }
    return node
  }

  private static func text(_ node: JSONNode?) throws(FallBackToCodable) -> String {
    guard let text = node?.string else { throw FallBackToCodable() }
    return text
  }

  private static func integer(_ node: JSONNode?) throws(FallBackToCodable) -> Int64 {
    guard let node, node.kind == .int64, let integer = node.int64 else { throw FallBackToCodable() }
    return integer
  }

  private static func int32(_ integer: Int64) throws(FallBackToCodable) -> Int32 {
    guard let integer = Int32(exactly: integer) else { throw FallBackToCodable() }
    return integer
  }
}

/// A value that is written as the fields of an object. Fields that are nil are omitted.
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
