import Foundation

/// A link into the app: `messageai://conversation/{id}`, with a scheme of the app's own if it wants one.
public struct DeepLink: Sendable, Equatable {
  /// Why a text is no such link.
  public enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
    /// No URL, or one of another scheme: not for this app's router.
    case otherScheme
    /// It leads to something that is not a conversation.
    case unknownDestination
    /// The conversation's id is missing, longer than 256 bytes, not UTF-8, or has control characters.
    case invalidConversationId

    /// One sentence, without the link.
    public var description: String {
      switch self {
      case .otherScheme: "the link is not one of this app"
      case .unknownDestination: "the link does not lead to a conversation"
      case .invalidConversationId: "the link names no valid conversation"
      }
    }
  }

  /// The scheme where the app has chosen no other.
  public static let defaultScheme = "messageai"
  /// The longest id in bytes of UTF-8, by Nudge's catalogue.
  private static let maximumIdBytes = 256

  /// The conversation it leads to.
  public let conversationId: String

  /// A link to a conversation.
  public init(conversationId: String) throws(Failure) {
    guard !conversationId.isEmpty, conversationId.utf8.count <= Self.maximumIdBytes,
      !conversationId.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else { throw .invalidConversationId }
    self.conversationId = conversationId
  }

  /// From the text of a link. Scheme and destination may be in capitals; a query or a fragment is ignored.
  public init(_ text: String, scheme: String = defaultScheme) throws(Failure) {
    guard let components = URLComponents(string: text), components.scheme?.lowercased() == scheme.lowercased() else {
      throw .otherScheme
    }
    guard components.host?.lowercased() == "conversation" else { throw .unknownDestination }
    var path = components.percentEncodedPath
    if path.hasPrefix("/") { path.removeFirst() }
    if path.hasSuffix("/") { path.removeLast() }
    // A slash that belongs to the id is percent-encoded; one that is not leads deeper, to what does not exist.
    guard !path.contains("/") else { throw .unknownDestination }
    guard let id = path.removingPercentEncoding else { throw .invalidConversationId }
    try self.init(conversationId: id)
  }

  /// The text of the link. Everything in the id but letters, digits and `-._~` of ASCII is percent-encoded.
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

  /// Where it leads.
  public var route: Route { Route(conversationId: conversationId) }
}
