import Analyzer

/// Where a policy differs from the default one, field by field.
struct PolicyDifferences: Equatable {
  /// A field, such as `bursts.directSeconds`, with both values as JSON.
  struct Difference: Encodable, Equatable {
    let field: String
    let standard: String
    let value: String
  }
  private(set) var differences: [Difference] = []

  init(of policy: NotificationPolicy, from standard: NotificationPolicy = NotificationPolicy()) throws {
    compare(try JSONValue(standard.json(pretty: false)), try JSONValue(policy.json(pretty: false)), "")
  }

  private mutating func compare(_ standard: JSONValue, _ value: JSONValue, _ path: String) {
    guard standard != value else { return }
    guard case .object = standard, case .object = value else {
      differences.append(Difference(field: path, standard: standard.shown, value: value.shown))
      return
    }
    for name in Set(standard.fields.keys).union(value.fields.keys).sorted() {
      let place = path.isEmpty ? name : "\(path).\(name)"
      switch (standard[name], value[name]) {
      case (let standard?, let value?): compare(standard, value, place)
      case (let standard, let value):
        differences.append(
          Difference(field: place, standard: standard?.shown ?? "none", value: value?.shown ?? "none"))
      }
    }
  }

  /// For a person: a line a field.
  var text: String {
    guard !differences.isEmpty else { return "It is the default policy." }
    return differences.map { "    \($0.field): \($0.value) (default \($0.standard))" }.joined(separator: "\n")
  }
}
