import Foundation

/// Looks into values and JSON for their fields.
public enum FieldWalk {
  /// Paths of fields that say nothing: nil, an empty list or text.
  public static func emptyFields(of value: Any, at path: String = "") -> [String] {
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    case .optional:
      guard let inner = mirror.children.first?.value else { return [path] }
      return emptyFields(of: inner, at: path)
    case .collection where mirror.children.isEmpty: return [path]
    default:
      if let text = value as? String { return text.isEmpty ? [path] : [] }
      return mirror.children.flatMap { emptyFields(of: $0.value, at: "\(path)/\($0.label ?? "")") }
    }
  }

  /// The paths of all fields of a JSON document; elements of one list are looked at together.
  public static func names(in bytes: [UInt8]) throws -> Set<String> {
    var names: Set<String> = []
    func walk(_ value: Any, _ path: String) {
      if let object = value as? [String: Any] {
        for (name, inner) in object {
          names.insert("\(path)/\(name)")
          walk(inner, "\(path)/\(name)")
        }
      }
      if let array = value as? [Any] { array.forEach { walk($0, "\(path)[]") } }
    }
    walk(try JSONSerialization.jsonObject(with: Data(bytes)), "")
    return names
  }
}
