/// Finds the words of a text among those of remembered messages. A message costs one look a word it has, however many the
/// text has: a table tells by the low bits of a word's hash where in the text it may be.
struct WordSearch {
  private static let mask: UInt16 = 255
  private static let none = UInt16.max

  private let words: [UInt16]
  /// By the low bits of a word: the first place in `words` with these.
  private var first = [UInt16](repeating: none, count: Int(mask) + 1)
  /// By place in `words`: the next one with the same low bits.
  private var next: [UInt16]

  /// Prepares the search for the different words of a text, of which 65,534 are looked at.
  init(_ words: [UInt16]) {
    let words = words.count < Int(Self.none) ? words : Array(words.prefix(Int(Self.none) - 1))
    self.words = words
    next = [UInt16](repeating: Self.none, count: words.count)
    for place in words.indices.reversed() {
      let slot = Int(words[place] & Self.mask)
      next[place] = first[slot]
      first[slot] = UInt16(place)
    }
  }

  /// For each word, the messages that have it: the newest is bit 0. At most the last 64 are looked at.
  func masks(in messages: [RememberedMessage]) -> [UInt64] {
    var masks = [UInt64](repeating: 0, count: words.count)
    guard !words.isEmpty else { return masks }
    var bit: UInt64 = 1
    for message in messages.reversed() {
      for lane in 0..<message.words.scalarCount {
        let word = message.words[lane]
        // 0 fills the rest.
        if word == 0 { break }
        var place = first[Int(word & Self.mask)]
        while place != Self.none {
          if words[Int(place)] == word { masks[Int(place)] |= bit }
          place = next[Int(place)]
        }
      }
      bit <<= 1
    }
    return masks
  }
}
