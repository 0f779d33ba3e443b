import ServiceKit

/// The check of a flag whose value is one of some names that are written elsewhere.
enum Choices {
  /// The names there are, with the one that was probably meant; nil: the value is absent, or one of them.
  static func missing(_ value: String?, among names: [String]) -> String? {
    guard let value, !names.contains(value) else { return nil }
    var seen: Set<String> = []
    let list = names.filter { seen.insert($0).inserted }.joined(separator: ", ")
    return "one of \(list)\(NearestName.of(value, among: names).map { " (did you mean \($0)?)" } ?? "")"
  }
}
