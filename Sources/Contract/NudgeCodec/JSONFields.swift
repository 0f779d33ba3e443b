import JSONCodec
import NudgeSchema

/// This decoder cannot read the record. `RecordCoder` reads it or reports the error.
struct FallBackToCodable: Error {}

/// A value of a record's field.
protocol JSONValue {
  /// Reads the value. A type that is only written leaves that to the reference.
  init(json: JSONNode) throws(FallBackToCodable)
  /// Writes the value, and changes nothing in it: a list has its fields `inout` because it also reads.
  mutating func write(to json: inout JSONWriter)
  /// Writes the value as a member of an object.
  mutating func write(to json: inout JSONWriter, as name: StaticString)
}

extension JSONValue {
  init(json: JSONNode) throws(FallBackToCodable) { throw FallBackToCodable() }

  mutating func write(to json: inout JSONWriter, as name: StaticString) {
    json.key(name)
    write(to: &json)
  }
}

/// An object that names each of its fields once, in one list, by which it is read and written.
///
/// ```swift
/// mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure) {
///   try json.field("pushedAt", &pushedAt)
///   try json.field("senderName", &senderName)
/// }
/// ```
///
/// Members are written in the order of the list, and read in any. A field of an optional type may be absent: nil is not written, and null
/// is read as nil. A list names a member once.
protocol JSONFields: JSONValue {
  mutating func fields<JSON: JSONCoder>(_ json: inout JSON) throws(JSON.Failure)
}

extension JSONFields {
  mutating func write(to json: inout JSONWriter) {
    json.beginObject()
    fields(&json)
    json.endObject()
  }
}

/// An object that is also read by its list.
protocol ReadableFields: JSONFields {
  /// A value to read into.
  static var blank: Self { get }
}

extension ReadableFields {
  init(json: JSONNode) throws(FallBackToCodable) {
    var reader = try JSONFieldReader(json)
    try self.init(fields: &reader)
  }

  /// Reads the fields of an object that has others beside them.
  init(fields json: inout JSONFieldReader) throws(FallBackToCodable) {
    self = .blank
    try fields(&json)
  }
}

/// Goes through a list of fields: reads them or writes them.
typealias JSONCoder = JSONCoding & ~Copyable

/// The protocol that `JSONCoder` names together with `~Copyable`, which a protocol's name does not include.
protocol JSONCoding: ~Copyable {
  /// Writing does not fail.
  associatedtype Failure: Error
  /// A field that is always there.
  mutating func field<Value: JSONValue>(_ name: StaticString, _ value: inout Value) throws(Failure)
  /// A field that may be absent.
  mutating func field<Value: JSONValue>(_ name: StaticString, _ value: inout Value?) throws(Failure)
  /// Leaves the record to the reference if the fields that were read do not meet a condition of the reference. Writing does not check.
  func require(_ condition: @autoclosure () -> Bool) throws(Failure)
}

/// Reads the members of an object in any order. The first of a repeated one counts; those that no list has are ignored.
struct JSONFieldReader: JSONCoding {
  private var members: JSONMembers

  /// Leaves a value that is not an object to the reference.
  init(_ object: JSONNode) throws(FallBackToCodable) {
    guard let members = object.members else { throw FallBackToCodable() }
    self.members = members
  }

  mutating func value<Value: JSONValue>(_ name: StaticString) throws(FallBackToCodable) -> Value {
    guard let node = members.take(name) else { throw FallBackToCodable() }
    return try Value(json: node)
  }

  mutating func value<Value: JSONValue>(_ name: StaticString) throws(FallBackToCodable) -> Value? {
    guard let node = members.take(name), !node.isNull else { return nil }
    return try Value(json: node)
  }

  mutating func field<Value: JSONValue>(_ name: StaticString, _ value: inout Value) throws(FallBackToCodable) {
    value = try self.value(name)
  }

  mutating func field<Value: JSONValue>(_ name: StaticString, _ value: inout Value?) throws(FallBackToCodable) {
    value = try self.value(name)
  }

  func require(_ condition: @autoclosure () -> Bool) throws(FallBackToCodable) {
    guard condition() else { throw FallBackToCodable() }
  }
}

/// Writes the members of an object, without its brackets.
extension JSONWriter: JSONCoding {
  mutating func field<Value: JSONValue>(_ name: StaticString, _ value: inout Value) {
    value.write(to: &self, as: name)
  }

  mutating func field<Value: JSONValue>(_ name: StaticString, _ value: inout Value?) {
    value?.write(to: &self, as: name)
  }

  func require(_: @autoclosure () -> Bool) {}

  /// Writes the fields of a body that was moved out of its case, and returns it. A copy would count all of its references.
  mutating func fields<Body: JSONFields>(of body: consuming Body) -> Body {
    body.fields(&self)
    return body
  }
}

/// The body of an event that is read directly.
protocol ReadableBody: EventBody {
  init(type: EventType, fields json: inout JSONFieldReader) throws(FallBackToCodable)
}

/// The body of an event that is written directly.
protocol WrittenBody: EventBody {
  /// Writes the fields, and changes nothing in them.
  mutating func writeFields(to json: inout JSONWriter)
}

extension WrittenBody where Self: JSONFields {
  mutating func writeFields(to json: inout JSONWriter) { fields(&json) }
}

extension JSONFieldReader {
  /// The type of an event of this schema version.
  mutating func type() throws(FallBackToCodable) -> EventType {
    guard try value("schemaVersion") == currentSchemaVersion, let type = members.take("type").flatMap({ EventType($0) })
    else { throw FallBackToCodable() }
    return type
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
