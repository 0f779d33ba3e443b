import Foundation
import Ingest
import NudgeSchema
import StreamRuntime
import WebPush

/// Corrects the values of dead letters: sets and removes fields, which are named by paths such as `preferences.enabled`.
struct DeadLetterEdit {
  /// New values by path. A value that is not JSON is a text.
  var set: [String: String] = [:]
  /// Paths of fields to remove.
  var remove: [String] = []

  /// Whether it changes nothing.
  var isEmpty: Bool { self.set.isEmpty && remove.isEmpty }

  /// The corrected value. Throws where a path leads through something that is no object.
  func apply(to value: JSONValue) throws -> JSONValue {
    var value = value
    for path in remove { try Self.change(&value, at: Self.parts(path), to: nil, path) }
    for (path, text) in set.sorted(by: { $0.key < $1.key }) {
      try Self.change(&value, at: Self.parts(path), to: Self.parse(text), path)
    }
    return value
  }

  /// A number, flag, list or object as JSON; any other text is a string. Digits in quotes are a string, too.
  static func parse(_ text: String) -> JSONValue { (try? JSONValue(Array(text.utf8))) ?? .string(text) }

  private static func parts(_ path: String) throws -> ArraySlice<String> {
    let parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.allSatisfy({ !$0.isEmpty }) else { throw CommandError("\(path) is not the path of a field") }
    return parts[...]
  }

  private static func change(
    _ value: inout JSONValue, at path: ArraySlice<String>, to new: JSONValue?, _ whole: String
  ) throws {
    guard case .object(var fields) = value, let name = path.first else {
      throw CommandError("\(whole): what is around the field is no object")
    }
    if path.count == 1 {
      fields[name] = new
    } else if var inner = fields[name] ?? (new == nil ? nil : .object([:])) {
      try change(&inner, at: path.dropFirst(), to: new, whole)
      fields[name] = inner
    }
    value = .object(fields)
  }

  /// The paths of the fields in which two values differ; `(the whole value)` where one of them is no object.
  static func changes(_ before: JSONValue?, _ after: JSONValue) -> [String] {
    guard case .object(let old)? = before, case .object(let new) = after else {
      return before == after ? [] : ["(the whole value)"]
    }
    return Set(old.keys).union(new.keys).sorted().flatMap { name -> [String] in
      if let a = old[name], let b = new[name], case .object = a, case .object = b {
        return changes(a, b).map { "\(name).\($0)" }
      }
      return old[name] == new[name] ? [] : [name]
    }
  }
}

/// A corrected event, as it would be published.
struct EditedEvent: Equatable {
  var topic: Topic
  /// That of the event: a missing or wrong one is corrected with it.
  var key: [UInt8]
  var value: [UInt8]
  /// The paths of the changed fields.
  var changed: [String]

  /// Why a correction is not published.
  struct Refusal: Error, Equatable {
    var reason: String
  }

  /// Checks a value as ingest does, except for rules that need ingest's state, such as whether the conversation is known.
  init(_ value: JSONValue, was before: JSONValue?, keyWas: [UInt8]?, topic: Topic, now: Milliseconds) throws {
    let field = topic == .chatEvents ? "conversationId" : "userId"
    guard let id = value[field]?.string, !id.isEmpty else { throw Refusal(reason: "\(field) is missing") }
    self.topic = topic
    key = Array(id.utf8)
    self.value = try RecordCoder().encode(value)
    changed = DeadLetterEdit.changes(before, value)
    if keyWas != key { changed.append("(the key)") }
    guard !changed.isEmpty else { throw Refusal(reason: "nothing changes in it") }
    let driver = StageDriver(IngestStage(IngestRules(endpoints: EndpointRules(allowsPrivateAddresses: true))), now: now)
    guard let rejection = driver.send(bytes: self.value, to: topic, key: key).rejection else { return }
    switch rejection.code {
    case .unknownConversation, .senderNotMember, .userDeleted: return
    default: throw Refusal(reason: "\(rejection.code.rawValue): \(rejection.message)")
    }
  }
}
