import HTTPServer
import JSONCodec
import NudgeSchema
import ServiceKit

/// The names of an event's fields, at each depth, by the event's JSON Schema.
///
/// Readers of records ignore other fields, because a later version may add some. A request that changes somebody's
/// settings is different: a misspelt field there is a change that is lost.
package struct KnownFields: Sendable {
  /// A field that the schema does not have.
  package struct Unknown: Equatable, Sendable, CustomStringConvertible {
    /// Its place in the event: `preferences.muted[0].untill`.
    package let path: String
    /// The known field that was probably meant, without its place.
    let meant: String?
    /// The known fields beside it.
    let known: [String]

    /// The place, and what to write.
    package var description: String {
      if let meant { return "\(path) is not a known field: did you mean \(meant)?" }
      return "\(path) is not a known field: use \(known.joined(separator: ", "))"
    }
  }

  /// Fields that are null, although null takes nothing away.
  struct Nulls: Equatable, Sendable, CustomStringConvertible {
    /// Their places in the event: `preferences.locale`.
    let paths: [String]
    /// The fields beside them that may be null.
    let nullable: [String]

    /// The places, and what to write.
    var description: String {
      "\(paths.joined(separator: ", ")): must not be null; only \(nullable.joined(separator: ", ")) may be. "
        + "Leave out what stays as it is"
    }
  }

  /// The fields of an object and the objects in them; of an array those of its elements.
  private struct Shape {
    var members: [String: Shape] = [:]
    var takesNull = false
    /// One, or none. A struct cannot contain itself in another way.
    var elements: [Shape] = []

    mutating func merge(_ other: Self) {
      func both(_ known: Self, _ new: Self) -> Self {
        var all = known
        all.merge(new)
        return all
      }
      members.merge(other.members, uniquingKeysWith: both)
      takesNull = takesNull || other.takesNull
      if let known = elements.first, let new = other.elements.first {
        elements = [both(known, new)]
      } else {
        elements += other.elements
      }
    }
  }

  /// The most that is reported of one event.
  private static let mostReported = 8

  private let shape: Shape

  package static let conversationUpdated = KnownFields(of: .conversationUpdated)
  package static let preferencesUpdated = KnownFields(of: .preferencesUpdated)
  package static let deviceRegistered = KnownFields(of: .deviceRegistered)

  /// The fields of a type whose events change the settings of a person or an app; nil for other types.
  static func settings(of type: EventType) -> KnownFields? {
    switch type {
    case .preferencesUpdated: preferencesUpdated
    case .deviceRegistered: deviceRegistered
    default: nil
    }
  }

  private init(of type: EventType) {
    let parser = JSONParser()
    let text = Array((EventSchemas.schema(of: type.rawValue) ?? "{}").utf8)
    // The texts are constants of the program, and a test reads each of them.
    shape = (try? parser.parse(text) { Self.shape(of: $0, in: $0) }) ?? Shape()
  }

  /// The fields that a schema names itself, by reference or as one of several possible forms.
  private static func shape(of schema: JSONNode, in document: JSONNode) -> Shape {
    var shape = Shape()
    for member in schema.members.map(Array.init) ?? [] {
      switch member.key {
      case "$ref":
        let name = member.value.string?.split(separator: "/").last.map(String.init) ?? ""
        if let target = document["$defs"]?.members?.first(where: { $0.key.string == name })?.value {
          shape.merge(Self.shape(of: target, in: document))
        }
      case "allOf", "anyOf", "oneOf":
        for part in member.value.elements.map(Array.init) ?? [] { shape.merge(Self.shape(of: part, in: document)) }
      case "properties":
        for property in member.value.members.map(Array.init) ?? [] {
          shape.members[property.key.string ?? "", default: Shape()].merge(Self.shape(of: property.value, in: document))
        }
      case "type": shape.takesNull = shape.takesNull || member.value.string == "null"
      case "items": shape.merge(Shape(elements: [Self.shape(of: member.value, in: document)]))
      default: break
      }
    }
    return shape
  }

  /// The unknown fields of an event, or of `part` of it, in the order of the text; at most eight. Empty for bytes that are
  /// not JSON.
  package func unknown(in bytes: [UInt8], part: String? = nil) -> [Unknown] {
    let parser = JSONParser(maximumBytes: .max)
    return (try? parser.parse(bytes) { unknown(in: $0, part: part) }) ?? []
  }

  /// As above, for JSON that is parsed.
  func unknown(in event: JSONNode, part: String? = nil) -> [Unknown] {
    var found: [Unknown] = []
    let shape = part.map { self.shape.members[$0] ?? Shape() } ?? self.shape
    Self.add(of: event, shape, at: part ?? "", to: &found)
    return found
  }

  /// The fields of a part, and of `defaultLevels` in it, that are null and must not be; nil if there are none. Null within
  /// another field leaves out an element, because the field replaces the former one as a whole.
  func nulls(in event: JSONNode, part: String) -> Nulls? {
    let shape = self.shape.members[part] ?? Shape()
    var paths: [String] = []
    for member in event.members.map(Array.init) ?? [] {
      let name = member.key.string ?? ""
      if member.value.kind == .null, shape.members[name]?.takesNull == false { paths.append("\(part).\(name)") }
      guard name == "defaultLevels" else { continue }
      for level in member.value.members.map(Array.init) ?? [] where level.value.kind == .null {
        paths.append("\(part).\(name).\((level.key.string ?? "").shownName)")
      }
    }
    guard !paths.isEmpty else { return nil }
    return Nulls(paths: paths, nullable: shape.members.filter { $0.value.takesNull }.keys.sorted())
  }

  private static func add(of node: JSONNode, _ shape: Shape, at path: String, to found: inout [Unknown]) {
    // A value without known fields is a text, a number, or free in its form.
    if !shape.members.isEmpty, let members = node.members {
      for member in members where found.count < mostReported {
        let name = member.key.string ?? ""
        let place = path.isEmpty ? name.shownName : "\(path).\(name.shownName)"
        if let inner = shape.members[name] {
          add(of: member.value, inner, at: place, to: &found)
        } else {
          let known = shape.members.keys.sorted()
          found.append(Unknown(path: place, meant: NearestName.of(name, among: known), known: known))
        }
      }
    }
    guard let inner = shape.elements.first, let elements = node.elements else { return }
    for (index, element) in elements.enumerated() { add(of: element, inner, at: "\(path)[\(index)]", to: &found) }
  }
}
