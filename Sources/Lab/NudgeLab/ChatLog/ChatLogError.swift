package struct ChatLogError: Error, Equatable, CustomStringConvertible {
  /// File, place, cause and fix.
  package let description: String

  package init(_ description: String) { self.description = description }

  /// About a line, counted from 1.
  init(_ path: String, line: Int, _ reason: String) { self.init("\(path), line \(line): \(reason)") }

  /// About a field of a line.
  init(_ path: String, line: Int, _ error: DecodingError) { self.init(path, line: line, Self.reason(error)) }

  private static func reason(_ error: DecodingError) -> String {
    switch error {
    case .keyNotFound(let key, _): "\"\(key.stringValue)\" is missing; \(form)"
    case .valueNotFound(_, let context): "\"\(field(context))\" is null; \(form)"
    case .typeMismatch(let type, let context) where !context.codingPath.isEmpty:
      "\"\(field(context))\" is not of type \(type); \(form)"
    case .dataCorrupted(let context) where !context.codingPath.isEmpty:
      "\"\(field(context))\": \(context.debugDescription); \(form)"
    case .typeMismatch, .dataCorrupted: "not a JSON object; \(form)"
    @unknown default: "not a message; \(form)"
    }
  }

  private static func field(_ context: DecodingError.Context) -> String {
    context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
  }

  private static let form = #"a line is {"log":…,"n":…,"at":…,"nick":…,"text":…} and may have "replyTo":[n,…]"#
}
