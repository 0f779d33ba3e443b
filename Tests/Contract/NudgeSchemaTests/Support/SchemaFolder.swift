import Foundation
import TestSupport

/// The repository's `Schemas/`.
enum SchemaFolder {
  /// One file below `{topic}/examples/{type}/`.
  struct Example: Sendable {
    var topic: String
    var type: String
    var url: URL
    /// By its name.
    var isValid: Bool { url.lastPathComponent.hasPrefix("valid-") }
    var bytes: [UInt8] { get throws { [UInt8](try Data(contentsOf: url)) } }
    /// `{topic}/examples/{type}/{name}.json`.
    var path: String { "\(topic)/examples/\(type)/\(url.lastPathComponent)" }
  }

  static let url = Repository.file("Schemas")

  static func schemaURL(topic: String, type: String) -> URL {
    url.appending(path: topic).appending(path: "\(type).schema.json")
  }

  static func topics() throws -> [String] {
    try names(in: url).filter { try !types(ofTopic: $0).isEmpty }
  }

  /// The types that have a schema.
  static func types(ofTopic topic: String) throws -> [String] {
    let ending = ".schema.json"
    return try names(in: url.appending(path: topic)).filter { $0.hasSuffix(ending) }.map {
      String($0.dropLast(ending.count))
    }
  }

  static func examples() throws -> [Example] {
    try topics().flatMap { topic in
      let folder = url.appending(path: topic).appending(path: "examples")
      return try names(in: folder).flatMap { type in
        try names(in: folder.appending(path: type)).map {
          Example(topic: topic, type: type, url: folder.appending(path: type).appending(path: $0))
        }
      }
    }
  }

  /// Names in a folder, sorted; none where it is no folder.
  private static func names(in folder: URL) throws -> [String] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder), isFolder.boolValue else {
      return []
    }
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }
}
