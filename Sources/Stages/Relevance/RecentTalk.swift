import NudgeSchema

/// The last messages of a conversation: their senders, addressees and times, and a few hashed words.
///
/// No text is kept. The size is bounded by `capacity` and `peopleBytes`, whatever the conversation is like.
public struct RecentTalk: Sendable, Equatable {
  /// Messages that are remembered at most. One bit of a 64-bit mask stands for each.
  public static let capacity = 64
  /// Bytes the ids in `people` may take, unless the newest message alone needs more.
  public static let peopleBytes = 4_000
  /// Messages before those of which the senders alone are remembered, at most.
  public static let formerCapacity = 64
  /// The most people that are remembered: an index takes a byte, and one means that there is no person.
  static let maxPeople = 200

  /// Ids of senders and addressees in `messages`, and of senders in `former`, which name them by their indices here.
  public private(set) var people: [String] = []
  /// The messages, oldest first.
  public private(set) var messages: [RememberedMessage] = []
  /// The messages before those, oldest first. An edit of one has its sender; the relevance model knows nothing of them.
  public private(set) var former: [FormerMessage] = []

  public init() {}

  /// Reads what was kept. nil: the messages name people that are not there, or there are too many.
  public init?(people: [String], messages: [RememberedMessage], former: [FormerMessage] = []) {
    guard people.count <= Self.maxPeople, messages.count <= Self.capacity, former.count <= Self.formerCapacity
    else { return nil }
    for message in messages where !message.isValid(people: people.count) { return nil }
    for message in former where Int(message.sender) >= people.count { return nil }
    self.people = people
    self.messages = messages
    self.former = former
  }

  public var isEmpty: Bool { messages.isEmpty }

  /// The sender of a message. Absent if the message is not remembered.
  public func sender(of messageId: String) -> String? {
    let key = Self.key(messageId)
    let sender = messages.last { $0.key == key }?.sender ?? former.last { $0.key == FormerMessage.key(key) }?.sender
    return sender.map { people[Int($0)] }
  }

  /// When a person wrote the last of their remembered messages. Absent if no message of theirs is remembered.
  public func lastTime(of person: String) -> Int64? {
    guard let place = place(of: person) else { return nil }
    return messages.lazy.filter { Int($0.sender) == place }.map(\.at).max()
  }

  /// A hash of a message id in 8 bytes: FNV-1a over its bytes.
  public static func key(_ messageId: String) -> UInt64 { FNV1a.hash(messageId) }

  /// Adds a message, and forgets the oldest beyond the bounds.
  ///
  /// - Parameters:
  ///   - addressed: The people whom it names, mentions or answers. The first `RememberedMessage.maxAddressed` count.
  ///   - partner: The person for whom it most likely is, given or guessed. Absent: nobody in particular.
  public mutating func append(
    _ text: TextTraits, from sender: String, at time: Int64, messageId: String, addressed: [String],
    partner: String?
  ) {
    if messages.count == Self.capacity { keepSenderOfOldest() }
    if people.count > Self.maxPeople - 8 { forgetUnreferenced() }
    if people.count > Self.maxPeople - 8 { forgetFormer() }
    while people.count > Self.maxPeople - 8, !messages.isEmpty {
      messages.removeFirst(min(8, messages.count))
      forgetUnreferenced()
    }
    var message = RememberedMessage(
      sender: index(of: sender), at: time, key: Self.key(messageId), length: text.length, isQuestion: text.isQuestion)
    for person in addressed.prefix(RememberedMessage.maxAddressed) { message.address(index(of: person)) }
    if let partner { message.partner = index(of: partner) }
    message.words = rarest(of: text.words)
    messages.append(message)
    trim()
  }

  private mutating func keepSenderOfOldest() {
    let oldest = messages.removeFirst()
    if former.count == Self.formerCapacity { former.removeFirst() }
    former.append(FormerMessage(key: FormerMessage.key(oldest.key), sender: oldest.sender))
  }

  private mutating func forgetFormer() {
    former = []
    forgetUnreferenced()
  }

  private mutating func index(of person: String) -> UInt8 {
    if let place = place(of: person) { return UInt8(place) }
    people.append(person)
    return UInt8(people.count - 1)
  }

  /// The index of an id in `people`. Ids are compared by bytes.
  func place(of person: String) -> Int? {
    people.firstIndex { sameId($0, person) }
  }

  /// The words that the fewest remembered messages have. Among equals, the first in the text.
  private func rarest(of words: [UInt16]) -> SIMD8<UInt16> {
    var kept = SIMD8<UInt16>(repeating: 0)
    guard words.count > kept.scalarCount else {
      for (place, word) in words.enumerated() { kept[place] = word }
      return kept
    }
    let masks = WordSearch(words).masks(in: messages)
    let byCount = words.indices.sorted {
      (masks[$0].nonzeroBitCount, $0) < (masks[$1].nonzeroBitCount, $1)
    }
    for place in 0..<kept.scalarCount { kept[place] = words[byCount[place]] }
    return kept
  }

  private mutating func trim() {
    var bytes = people.reduce(0) { $0 + $1.utf8.count }
    guard bytes > Self.peopleBytes else { return }
    forgetUnreferenced()
    bytes = people.reduce(0) { $0 + $1.utf8.count }
    if bytes > Self.peopleBytes {
      // The last messages matter more than senders of older ones.
      forgetFormer()
      bytes = people.reduce(0) { $0 + $1.utf8.count }
    }
    while bytes > Self.peopleBytes, messages.count > 1 {
      messages.removeFirst()
      forgetUnreferenced()
      bytes = people.reduce(0) { $0 + $1.utf8.count }
    }
  }

  /// Drops people whom no message names.
  private mutating func forgetUnreferenced() {
    var used = [Bool](repeating: false, count: people.count)
    for message in messages {
      used[Int(message.sender)] = true
      for place in 0..<RememberedMessage.maxAddressed where message.addressed[place] != RememberedMessage.nobody {
        used[Int(message.addressed[place])] = true
      }
      if message.partner != RememberedMessage.nobody { used[Int(message.partner)] = true }
    }
    for message in former { used[Int(message.sender)] = true }
    guard used.contains(false) else { return }
    var moved = [UInt8](repeating: RememberedMessage.nobody, count: people.count)
    var kept: [String] = []
    for (index, person) in people.enumerated() where used[index] {
      moved[index] = UInt8(kept.count)
      kept.append(person)
    }
    people = kept
    for index in messages.indices { messages[index].move(moved) }
    for index in former.indices { former[index].sender = moved[Int(former[index].sender)] }
  }
}

/// A message of which `RecentTalk` remembers only the sender.
public struct FormerMessage: Sendable, Equatable {
  /// `FormerMessage.key` of its id.
  public var key: UInt32
  /// The sender's index.
  public var sender: UInt8

  /// A hash of a message in 4 bytes.
  static func key(_ key: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: key >> 32 ^ key) }
}

/// One message of `RecentTalk`.
public struct RememberedMessage: Sendable, Equatable {
  /// The most addressed people that are kept for a message.
  public static let maxAddressed = 4
  /// The index that stands for no person.
  public static let nobody: UInt8 = 255

  public var sender: UInt8
  /// When it was written, in milliseconds since the epoch.
  public var at: Int64
  /// `RecentTalk.key` of its id.
  public var key: UInt64
  /// The indices of the people whom it named, mentioned or answered. `nobody` fills the rest.
  public var addressed = SIMD4<UInt8>(repeating: nobody)
  /// The index of the person for whom it most likely was. `nobody`: nobody in particular.
  public var partner: UInt8 = nobody
  /// Characters of its text, at most 65,535.
  public var length: UInt16
  /// Whether it asked something.
  public var isQuestion: Bool
  /// Hashes of its rarest words. 0 fills the rest.
  public var words = SIMD8<UInt16>(repeating: 0)

  mutating func address(_ person: UInt8) {
    for place in 0..<Self.maxAddressed {
      if addressed[place] == person { return }
      if addressed[place] == Self.nobody {
        addressed[place] = person
        return
      }
    }
  }

  fileprivate func isValid(people: Int) -> Bool {
    guard Int(sender) < people, partner == Self.nobody || Int(partner) < people else { return false }
    for place in 0..<Self.maxAddressed where addressed[place] != Self.nobody && Int(addressed[place]) >= people {
      return false
    }
    return true
  }

  fileprivate mutating func move(_ places: [UInt8]) {
    sender = places[Int(sender)]
    for place in 0..<Self.maxAddressed where addressed[place] != Self.nobody {
      addressed[place] = places[Int(addressed[place])]
    }
    if partner != Self.nobody { partner = places[Int(partner)] }
  }
}

/// The messages as bytes, for a row of state: about 40 bytes a message, 5 bytes a former one.
///
/// A message takes: 1 byte sender, 1 byte for whether it asks and how many it addresses, those, 1 byte partner, 2 bytes
/// length, 8 bytes time, 8 bytes key, 1 byte for the number of words, those. Numbers are little-endian.
extension RecentTalk {
  /// `messages`, packed.
  public var packedMessages: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(messages.count * 42)
    func add(_ value: some FixedWidthInteger) {
      for place in 0..<(value.bitWidth / 8) { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * place))) }
    }
    for message in messages {
      var addressed: [UInt8] = []
      for place in 0..<RememberedMessage.maxAddressed where message.addressed[place] != RememberedMessage.nobody {
        addressed.append(message.addressed[place])
      }
      bytes.append(message.sender)
      bytes.append((message.isQuestion ? 128 : 0) | UInt8(addressed.count))
      bytes += addressed
      bytes.append(message.partner)
      add(message.length)
      add(message.at)
      add(message.key)
      let words = (0..<message.words.scalarCount).count { message.words[$0] != 0 }
      bytes.append(UInt8(words))
      for place in 0..<words { add(message.words[place]) }
    }
    return bytes
  }

  /// `former`, packed: 4 bytes key, 1 byte sender.
  public var packedFormer: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(former.count * 5)
    for message in former {
      for place in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: message.key >> (8 * place))) }
      bytes.append(message.sender)
    }
    return bytes
  }

  /// Reads packed messages. Fails if the bytes are cut off or name people who are not in `people`.
  public init?(people: [String], packedMessages bytes: [UInt8], packedFormer: [UInt8] = []) {
    var place = 0
    func read<Value: FixedWidthInteger>(_: Value.Type) -> Value? {
      guard place + Value.bitWidth / 8 <= bytes.count else { return nil }
      var value: Value = 0
      for index in 0..<(Value.bitWidth / 8) { value |= Value(truncatingIfNeeded: bytes[place + index]) << (8 * index) }
      place += Value.bitWidth / 8
      return value
    }
    var messages: [RememberedMessage] = []
    while place < bytes.count {
      guard let sender = read(UInt8.self), let marks = read(UInt8.self),
        marks & 127 <= RememberedMessage.maxAddressed
      else { return nil }
      var addressed = SIMD4<UInt8>(repeating: RememberedMessage.nobody)
      for index in 0..<Int(marks & 127) {
        guard let person = read(UInt8.self) else { return nil }
        addressed[index] = person
      }
      guard let partner = read(UInt8.self), let length = read(UInt16.self), let at = read(Int64.self),
        let key = read(UInt64.self), let words = read(UInt8.self), words <= 8
      else { return nil }
      var message = RememberedMessage(sender: sender, at: at, key: key, length: length, isQuestion: marks & 128 != 0)
      message.addressed = addressed
      message.partner = partner
      for index in 0..<Int(words) {
        guard let word = read(UInt16.self) else { return nil }
        message.words[index] = word
      }
      messages.append(message)
    }
    guard packedFormer.count.isMultiple(of: 5) else { return nil }
    var former: [FormerMessage] = []
    former.reserveCapacity(packedFormer.count / 5)
    for start in stride(from: 0, to: packedFormer.count, by: 5) {
      var key: UInt32 = 0
      for place in 0..<4 { key |= UInt32(packedFormer[start + place]) << (8 * place) }
      former.append(FormerMessage(key: key, sender: packedFormer[start + 4]))
    }
    self.init(people: people, messages: messages, former: former)
  }
}

/// With messages as a row has them.
extension RecentTalk: Encodable {
  private enum CodingKeys: CodingKey {
    case people
    case messages
    case former
  }

  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(people, forKey: .people)
    try fields.encode(Base64Text.encode(packedMessages), forKey: .messages)
    try fields.encode(Base64Text.encode(packedFormer), forKey: .former)
  }
}
