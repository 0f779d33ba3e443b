extension Rejection {
  /// The rejection of a record of an unknown type or version.
  public init(_ error: EventFormatError) {
    switch error {
    case .unsupportedVersion: self.init(.unsupportedVersion, error.description)
    case .unknownType: self.init(.unknownType, error.description)
    case .invalidTime: self.init(.schemaViolation, error.description)
    }
  }

  /// The rejection of a record that cannot be decoded. It names the field and never its value, which the decoder's own text may
  /// quote (T4).
  public init(_ error: DecodingError) {
    switch error {
    case .keyNotFound(let key, let context):
      self.init(.schemaViolation, "\(Self.path(context.codingPath + [key])) is missing")
    case .valueNotFound(_, let context):
      self.init(.schemaViolation, "\(Self.path(context.codingPath)) must not be null")
    case .typeMismatch(let type, let context):
      self.init(.schemaViolation, "\(Self.path(context.codingPath)) is not \(Self.name(of: type))")
    case .dataCorrupted(let context):
      if let name = context.underlyingError as? UnknownName {
        self.init(
          .schemaViolation,
          "\(Self.path(context.codingPath)) has none of the values allowed: \(name.known.joined(separator: ", "))",
          isUnknownValue: true)
      } else if context.codingPath.isEmpty || context.underlyingError != nil {
        // The parser's own errors have a cause, or no path. A value of the right type that does not fit has a path and no cause.
        self.init(.invalidJSON, "the record's value is not JSON")
      } else {
        self.init(
          .schemaViolation, "\(Self.path(context.codingPath)) has none of the values allowed", isUnknownValue: true)
      }
    @unknown default:
      self.init(.schemaViolation, "the record's value is not as the schema says")
    }
  }

  private static func name(of type: Any.Type) -> String {
    switch type {
    case is String.Type: "a string"
    case is Bool.Type: "true or false"
    case is any BinaryInteger.Type: "an integer"
    case is any BinaryFloatingPoint.Type: "a number"
    case is [Any].Type: "an array"
    default: "an object"
    }
  }

  private static func path(_ codingPath: [any CodingKey]) -> String {
    guard !codingPath.isEmpty else { return "the record's value" }
    return codingPath.reduce(into: "") { text, key in
      if let index = key.intValue {
        text += "[\(index)]"
      } else {
        text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
      }
    }
  }
}
