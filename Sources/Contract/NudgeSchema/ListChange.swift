/// A change of a list of preferences: elements to add, which replace those with the same id, and ids to remove. The
/// last writer wins for each element (D12).
public struct ListChange<Element: Codable & Sendable & Equatable>: Codable, Sendable, Equatable {
  /// Elements to add.
  public var add: [Element]
  /// Ids to remove. A keyword is its own id.
  public var remove: [String]

  /// A change.
  public init(add: [Element] = [], remove: [String] = []) {
    self.add = add
    self.remove = remove
  }

  private enum CodingKeys: String, CodingKey { case add, remove }

  /// Reads the value; fields it does not know are ignored.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    guard fields.contains(.add) || fields.contains(.remove) else {
      throw DecodingError.keyNotFound(
        CodingKeys.add, .init(codingPath: decoder.codingPath, debugDescription: "a change has add or remove"))
    }
    add = try fields.decodeIfPresent([Element].self, forKey: .add) ?? []
    remove = try fields.decodeIfPresent([String].self, forKey: .remove) ?? []
  }

  /// Writes the lists that are not empty. An empty change is written as an empty `add`.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    if !add.isEmpty || remove.isEmpty { try fields.encode(add, forKey: .add) }
    if !remove.isEmpty { try fields.encode(remove, forKey: .remove) }
  }
}

/// Changes of lists of preferences. For each list, a patch has either the change or the whole list.
public struct ListChanges: Sendable, Equatable {
  /// Muted conversations.
  public var muted: ListChange<MutedConversation>?
  /// Senders whose messages matter more.
  public var starredSenders: ListChange<String>?
  /// Words that matter to the person.
  public var keywords: ListChange<String>?
  /// Conversations with a level of their own.
  public var conversationLevels: ListChange<ConversationLevel>?
  /// Senders whose messages are neither shown nor counted.
  public var mutedSenders: ListChange<String>?

  /// Changes of lists.
  public init(
    muted: ListChange<MutedConversation>? = nil, starredSenders: ListChange<String>? = nil,
    keywords: ListChange<String>? = nil, conversationLevels: ListChange<ConversationLevel>? = nil,
    mutedSenders: ListChange<String>? = nil
  ) {
    self.muted = muted
    self.starredSenders = starredSenders
    self.keywords = keywords
    self.conversationLevels = conversationLevels
    self.mutedSenders = mutedSenders
  }
}

extension KeyedDecodingContainer {
  /// Reads a list, or a change of a list, which is an object.
  func decodeList<Element>(
    _: Element.Type, forKey key: Key, _ change: inout ListChange<Element>?
  ) throws -> [Element]? {
    guard contains(key), try !decodeNil(forKey: key) else { return nil }
    if (try? nestedUnkeyedContainer(forKey: key)) != nil { return try decode([Element].self, forKey: key) }
    change = try decode(ListChange<Element>.self, forKey: key)
    return nil
  }
}

extension KeyedEncodingContainer {
  mutating func encodeList<Element>(_ list: [Element]?, _ change: ListChange<Element>?, forKey key: Key) throws {
    if let list { return try encode(list, forKey: key) }
    try encodeIfPresent(change, forKey: key)
  }
}
