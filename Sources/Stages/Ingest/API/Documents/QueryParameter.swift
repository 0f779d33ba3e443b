import NudgeSchema

/// A query parameter of an endpoint. The endpoint's route and the OpenAPI document are made from the same list.
struct QueryParameter: Sendable {
  let name: String
  let description: String
  /// Its JSON Schema.
  let schema: String
  /// An example as JSON.
  var example: String?

  /// The parameter in the OpenAPI document.
  private var json: String {
    """
    {"name": "\(name)", "in": "query", "required": false, "description": "\(description)", "schema": \(schema)\
    \(example.map { ", \"example\": \($0)" } ?? "")}
    """
  }

  /// The parameters in the OpenAPI document, as elements of an array.
  static func json(_ parameters: [QueryParameter]) -> String { parameters.map(\.json).joined(separator: ", ") }
}

extension [QueryParameter] {
  /// The names, for a route.
  var names: [String] { map(\.name) }
}
