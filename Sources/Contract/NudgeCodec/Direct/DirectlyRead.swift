import JSONCodec
import NudgeSchema

/// The record is not one that is read directly: `RecordCoder` is to say what it is.
struct NeedsReference: Error {}

/// A value that is read from an object's fields.
protocol DirectlyRead {
  /// Reads the fields; those it does not know are ignored.
  init(_ fields: JSONNode) throws(NeedsReference)
}

/// The body of an event that is read directly.
protocol DirectBody: EventBody {
  /// Reads the fields of a type, the value of the field `type`.
  init(type: JSONNode, _ fields: JSONNode) throws(NeedsReference)
}

extension DirectBody {
  @inline(__always)
  static func envelopeAndBody(_ fields: JSONNode) throws(NeedsReference) -> (Envelope, Self) {
    guard try fields.integer("schemaVersion") == Int64(currentSchemaVersion), let type = fields["type"] else {
      throw NeedsReference()
    }
    return (try Envelope(fields), try Self(type: type, fields))
  }
}

/// Fields by their names. Of a field that is there twice the first counts. Null is as absent, where a field may be.
extension JSONNode {
  func text(_ key: StaticString) throws(NeedsReference) -> String { try Self.text(self[key]) }

  func text(ifPresent key: StaticString) throws(NeedsReference) -> String? {
    guard let node = value(ifPresent: key) else { return nil }
    return try Self.text(node)
  }

  /// An integer written as one: no fraction, no exponent.
  func integer(_ key: StaticString) throws(NeedsReference) -> Int64 { try Self.integer(self[key]) }

  func integer(ifPresent key: StaticString) throws(NeedsReference) -> Int64? {
    guard let node = value(ifPresent: key) else { return nil }
    return try Self.integer(node)
  }

  func int(_ key: StaticString) throws(NeedsReference) -> Int { Int(try integer(key)) }

  func int(ifPresent key: StaticString) throws(NeedsReference) -> Int? { try integer(ifPresent: key).map { Int($0) } }

  func int32(_ key: StaticString) throws(NeedsReference) -> Int32 { try Self.int32(integer(key)) }

  func int32(ifPresent key: StaticString) throws(NeedsReference) -> Int32? {
    guard let integer = try integer(ifPresent: key) else { return nil }
    return try Self.int32(integer)
  }

  func flag(_ key: StaticString) throws(NeedsReference) -> Bool {
    guard let flag = self[key]?.bool else { throw NeedsReference() }
    return flag
  }

  func flag(ifPresent key: StaticString) throws(NeedsReference) -> Bool? {
    guard let node = value(ifPresent: key) else { return nil }
    guard let flag = node.bool else { throw NeedsReference() }
    return flag
  }

  func choice<Choice: RawRepresentable<String>>(_ key: StaticString) throws(NeedsReference) -> Choice {
    guard let choice = Choice(rawValue: try text(key)) else { throw NeedsReference() }
    return choice
  }

  func choice<Choice: RawRepresentable<String>>(ifPresent key: StaticString) throws(NeedsReference) -> Choice? {
    value(ifPresent: key) == nil ? nil : try choice(key)
  }

  func object<Value: DirectlyRead>(_ key: StaticString) throws(NeedsReference) -> Value {
    guard let node = self[key] else { throw NeedsReference() }
    return try Value(node)
  }

  func object<Value: DirectlyRead>(ifPresent key: StaticString) throws(NeedsReference) -> Value? {
    guard let node = value(ifPresent: key) else { return nil }
    return try Value(node)
  }

  func objects<Value: DirectlyRead>(_ key: StaticString) throws(NeedsReference) -> [Value] {
    guard let elements = self[key]?.elements else { throw NeedsReference() }
    var values: [Value] = []
    for element in elements { values.append(try Value(element)) }
    return values
  }

  func objects<Value: DirectlyRead>(ifPresent key: StaticString) throws(NeedsReference) -> [Value]? {
    value(ifPresent: key) == nil ? nil : try objects(key)
  }

  func texts(_ key: StaticString) throws(NeedsReference) -> [String] {
    guard let elements = self[key]?.elements else { throw NeedsReference() }
    var texts: [String] = []
    for element in elements { texts.append(try Self.text(element)) }
    return texts
  }

  func texts(ifPresent key: StaticString) throws(NeedsReference) -> [String]? {
    value(ifPresent: key) == nil ? nil : try texts(key)
  }

  private func value(ifPresent key: StaticString) -> JSONNode? {
    guard let node = self[key], !node.isNull else { return nil }
    return node
  }

  private static func text(_ node: JSONNode?) throws(NeedsReference) -> String {
    guard let text = node?.string else { throw NeedsReference() }
    return text
  }

  private static func integer(_ node: JSONNode?) throws(NeedsReference) -> Int64 {
    guard let node, node.kind == .int64, let integer = node.int64 else { throw NeedsReference() }
    return integer
  }

  private static func int32(_ integer: Int64) throws(NeedsReference) -> Int32 {
    guard let integer = Int32(exactly: integer) else { throw NeedsReference() }
    return integer
  }
}
