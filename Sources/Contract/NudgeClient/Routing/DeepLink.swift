import Foundation

/// A link into the app: `messageai://conversation/{id}`. An app may choose its own scheme.
///
/// ```swift
/// let link = try DeepLink(url.absoluteString, scheme: "acme-chat")
/// perform(router.receive(link.route, at: Date()))
/// let text = try DeepLink(conversationId: "c1").text()  // "messageai://conversation/c1"
/// ```
public struct DeepLink: Sendable, Equatable {
  /// Why a text is not a link of this app.
  public enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The text is not a URL, or has another scheme.
    case otherScheme
    /// The link leads to something other than a conversation.
    case unknownDestination
    /// The conversation id is missing, longer than 256 bytes, not UTF-8, or has control characters.
    case invalidConversationId

    /// One sentence, without the link.
    public var description: String {
      switch self {
      case .otherScheme: "the link does not have this app's scheme"
      case .unknownDestination: "the link does not lead to a conversation"
      case .invalidConversationId: "the link has no valid conversation id"
      }
    }
  }

  /// The scheme of an app that has not chosen another.
  public static let defaultScheme = "messageai"
  /// The longest id in bytes of UTF-8 that Nudge accepts.
  private static let maximumIdBytes = 256

  /// The conversation that the link leads to.
  public let conversationId: String

  /// A link to a conversation.
  /// - Throws: `Failure.invalidConversationId`.
  public init(conversationId: String) throws(Failure) {
    guard !conversationId.isEmpty, conversationId.utf8.count <= Self.maximumIdBytes,
      !conversationId.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else { throw .invalidConversationId }
    self.conversationId = conversationId
  }

  /// Parses the text of a link. Scheme and destination may be in capitals; a query and a fragment are ignored.
  public init(_ text: String, scheme: String = defaultScheme) throws(Failure) {
    guard let components = URLComponents(string: text), components.scheme?.lowercased() == scheme.lowercased() else {
      throw .otherScheme
    }
    guard components.host?.lowercased() == "conversation" else { throw .unknownDestination }
    var path = components.percentEncodedPath
    if path.hasPrefix("/") { path.removeFirst() }
    if path.hasSuffix("/") { path.removeLast() }
    // A slash within the id is percent-encoded. Any other slash begins a destination that does not exist.
    guard !path.contains("/") else { throw .unknownDestination }
    guard let id = path.removingPercentEncoding else { throw .invalidConversationId }
    try self.init(conversationId: id)
  }

  /// The text of the link. In the id, all bytes but ASCII letters, digits and `-._~` are percent-encoded.
  public func text(scheme: String = defaultScheme) -> String {
    let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
    var text = "\(scheme)://conversation/"
    for byte in conversationId.utf8 {
      if unreserved.contains(byte) {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        text += byte < 0x10 ? "%0" : "%"
        text += String(byte, radix: 16, uppercase: true)
      }
    }
    return text
  }

  /// The route that the link leads to.
  public var route: Route { Route(conversationId: conversationId) }
}
