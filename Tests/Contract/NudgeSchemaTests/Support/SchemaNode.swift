import Foundation

/// All schemas by their `$id`.
struct SchemaStore: Sendable {
  private var documents: [String: JSONValue] = [:]

  /// Read once for all tests.
  static let loaded = Result { try SchemaStore() }

  private init() throws {
    var files = [SchemaFolder.url.appending(path: "common.schema.json")]
    for topic in try SchemaFolder.topics() {
      files += try SchemaFolder.types(ofTopic: topic).map { SchemaFolder.schemaURL(topic: topic, type: $0) }
    }
    for file in files {
      let document = try JSONValue(bytes: [UInt8](try Data(contentsOf: file)))
      guard let id = document["$id"]?.string else { throw SchemaError("\(file.path) has no $id") }
      guard documents.updateValue(document, forKey: id) == nil else { throw SchemaError("\(id) is there twice") }
    }
  }

  /// All of `$id`.
  var ids: [String] { documents.keys.sorted() }

  /// The part of a document that a URL with a JSON pointer names.
  func node(_ url: String) throws -> SchemaNode {
    let parts = url.split(separator: "#", maxSplits: 1)
    guard let id = parts.first.map(String.init), var value = documents[id] else { throw SchemaError("\(url): unknown") }
    for key in parts.dropFirst().first?.split(separator: "/") ?? [] {
      guard let next = value[String(key)] else { throw SchemaError("\(url): no \(key)") }
      value = next
    }
    return SchemaNode(store: self, id: id, value: value)
  }

  func schema(topic: String, type: String) throws -> SchemaNode {
    try node("https://nudge.example/schemas/v1/\(topic)/\(type).schema.json")
  }
}

/// A mistake in the schemas themselves.
struct SchemaError: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

/// A schema, or a part of one, with all that it refers to.
struct SchemaNode {
  let store: SchemaStore
  let id: String
  let value: JSONValue

  /// This schema and those that always apply with it.
  func conjuncts() throws -> [SchemaNode] {
    var all = [self]
    if let reference = value["$ref"]?.string {
      guard let target = URL(string: reference, relativeTo: URL(string: id)) else { throw SchemaError(reference) }
      all += try store.node(target.absoluteString).conjuncts()
    }
    for part in value["allOf"]?.array ?? [] { all += try with(part).conjuncts() }
    // Something, or null or a text: of what is neither, always.
    if let choices = value["anyOf"]?.array {
      let others = choices.filter { $0 != Self.null && $0["type"] != .string("string") }
      if others.count == 1 { all += try with(others[0]).conjuncts() }
    }
    return all
  }

  /// This schema, those that always apply with it, and those that may.
  func parts() throws -> [SchemaNode] {
    try conjuncts().flatMap { node in
      try [node] + (node.value["anyOf"]?.array ?? []).flatMap { try node.with($0).parts() }
    }
  }

  /// The schemas of each property.
  func properties() throws -> [String: [SchemaNode]] {
    var all: [String: [SchemaNode]] = [:]
    for part in try parts() {
      for (name, schema) in part.value["properties"]?.object ?? [:] { all[name, default: []].append(part.with(schema)) }
    }
    return all
  }

  /// The properties that must be there.
  func required() throws -> Set<String> {
    Set(try conjuncts().flatMap { ($0.value["required"]?.array ?? []).compactMap(\.string) })
  }

  /// Which properties exclude each other: sets of which exactly one must be there.
  func alternatives() throws -> [Set<String>] {
    try conjuncts().flatMap { node in
      (node.value["oneOf"]?.array ?? []).map { Set(($0["required"]?.array ?? []).compactMap(\.string)) }
    }
  }

  /// The properties that must be there, as the sample has those that exclude each other.
  func required(with sample: Set<String>) throws -> Set<String> {
    try alternatives().filter { $0.isSubset(of: sample) }.reduce(required()) { $0.union($1) }
  }

  /// The properties that may be there, as the sample has those that exclude each other.
  func properties(with sample: Set<String>) throws -> [String: [SchemaNode]] {
    let excluded = try alternatives().filter { !$0.isSubset(of: sample) }.reduce(Set<String>()) { $0.union($1) }
    var dependent: Set<String> = []
    for node in try conjuncts() {
      for (name, needs) in node.value["dependentRequired"]?.object ?? [:]
      where needs.array.compactMap(\.string).contains(where: excluded.contains) {
        dependent.insert(name)
      }
    }
    return try properties().filter { !excluded.contains($0.key) && !dependent.contains($0.key) }
  }

  /// The values it allows, where it lists them.
  func choices() throws -> [String]? {
    try parts().compactMap { $0.value["enum"] }.first?.array.compactMap(\.string)
  }

  /// The schemas of an array's elements.
  func items() throws -> [SchemaNode] { try parts().compactMap { part in part.value["items"].map(part.with) } }

  private static let null = JSONValue.object(["type": .string("null")])

  private func with(_ value: JSONValue) -> SchemaNode { SchemaNode(store: store, id: id, value: value) }
}

/// A property in a sample, and all that the schema says of it.
struct SchemaField {
  var path: [JSONValue.Step]
  var sample: JSONValue
  var schemas: [SchemaNode]
  var isRequired: Bool

  /// Whether it changes only how something looks, by its name and place: such a field never refuses an event.
  var isCosmetic: Bool {
    let names = path.compactMap { if case .key(let name) = $0 { name } else { nil } }
    switch names.last {
    case "displayName", "avatarUrl", "locale", "appVersion": return true
    case "sender": return names.count == 1
    case "name": return names.count == 1 || names.dropLast().last == "conversation"
    case "url", "kind": return ["attachments", "attachment"].contains(names.dropLast().last)
    default: return false
    }
  }
}

extension [SchemaNode] {
  /// Every property of the sample, at any depth, with its schemas. Calls `differs` for an object whose properties are
  /// not those of its schemas.
  func fields(
    of sample: JSONValue, at path: [JSONValue.Step] = [],
    differs: (_ path: String, _ sample: Set<String>, _ schema: Set<String>) -> Void
  ) throws -> [SchemaField] {
    switch sample {
    case .object(let values):
      // A dictionary: any names.
      if try !flatMap({ try $0.parts() }).contains(where: { $0.value["properties"] != nil }) { return [] }
      var schemas: [String: [SchemaNode]] = [:]
      let names = Set(values.keys)
      for node in self { schemas.merge(try node.properties(with: names)) { $0 + $1 } }
      if Set(values.keys) != Set(schemas.keys) { differs(path.text, Set(values.keys), Set(schemas.keys)) }
      let required = Set<String>(try flatMap { try $0.required(with: names) })
      return try values.sorted { $0.key < $1.key }.flatMap { key, value in
        let inner = path + [.key(key)]
        let field = SchemaField(
          path: inner, sample: value, schemas: schemas[key] ?? [], isRequired: required.contains(key))
        return try [field] + (schemas[key] ?? []).fields(of: value, at: inner, differs: differs)
      }
    case .array(let elements):
      let items = try flatMap { try $0.items() }
      guard let first = elements.first else { return [] }
      return try items.fields(of: first, at: path + [.index(0)], differs: differs)
    default: return []
    }
  }
}
