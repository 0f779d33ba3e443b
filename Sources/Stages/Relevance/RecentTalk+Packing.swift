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

  /// Reads what was packed. nil: it is cut off, or names people that are not there.
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
