/// The method of a request.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable {
  /// The text in the request line; methods are case-sensitive.
  public let rawValue: String

  /// A method by its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A route of this method also answers HEAD.
  public static let get = HTTPMethod(rawValue: "GET")
  /// Like GET, without the body.
  public static let head = HTTPMethod(rawValue: "HEAD")
  /// Process the body.
  public static let post = HTTPMethod(rawValue: "POST")
  /// Store the body at this path.
  public static let put = HTTPMethod(rawValue: "PUT")
  /// Change part of the resource.
  public static let patch = HTTPMethod(rawValue: "PATCH")
  /// Remove the resource.
  public static let delete = HTTPMethod(rawValue: "DELETE")
}
