import Foundation
import TestSupport

/// The targets of Package.swift by layer, read from its text.
struct PackageLayers {
  struct Target {
    var name: String
    /// The layer's case name, such as `contract`.
    var layer: String
    var isTest: Bool
    var dependencies: [String]
  }

  /// Case names, first the layer that depends on no other.
  let layers: [String]
  /// Folder of each layer.
  let folders: [String: String]
  let targets: [Target]

  init() throws {
    try self.init(String(contentsOf: Repository.file("Package.swift"), encoding: .utf8))
  }

  init(_ text: String) {
    let cases = text.matches(of: /case (\w+) = "(\w+)"/)
    layers = cases.map { String($0.1) }
    folders = Dictionary(uniqueKeysWithValues: cases.map { (String($0.1), String($0.2)) })
    targets = text.matches(of: /Layer\.(\w+)\.(module|program|tests|system)\(\s*"([\w-]+)"(?:,\s*\[([^\]]*)\])?/).map {
      Target(
        name: String($0.3), layer: String($0.1), isTest: $0.2 == "tests",
        dependencies: ($0.4 ?? "").matches(of: /"([\w-]+)"/).map { String($0.1) })
    }
  }

  /// A layer's place in the list; nil where there is no such layer.
  func depth(_ layer: String) -> Int? { layers.firstIndex(of: layer) }

  func target(_ name: String) -> Target? { targets.first { $0.name == name } }

  /// Dependencies of targets that are in a layer below the target's own, as `target -> dependency`.
  ///
  /// - Parameter instruments: Modules that tests of any layer may use.
  func upward(instruments: Set<String>) -> [String] {
    targets.flatMap { target in
      target.dependencies.filter { name in
        guard let dependency = self.target(name), !(target.isTest && instruments.contains(name)) else { return false }
        return depth(dependency.layer) ?? .max > depth(target.layer) ?? -1
      }.map { "\(target.name) -> \($0)" }
    }
  }
}
