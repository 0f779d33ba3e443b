/// What a request asks to be done.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable {
  /// As it stands in the request line; methods are case-sensitive.
  public let rawValue: String

  /// A method by its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Read; a route of this method answers HEAD as well.
  public static let get = HTTPMethod(rawValue: "GET")
  /// Read the head only.
  public static let head = HTTPMethod(rawValue: "HEAD")
  /// Give something to be processed.
  public static let post = HTTPMethod(rawValue: "POST")
  /// Store under this path.
  public static let put = HTTPMethod(rawValue: "PUT")
  /// Remove.
  public static let delete = HTTPMethod(rawValue: "DELETE")
}
