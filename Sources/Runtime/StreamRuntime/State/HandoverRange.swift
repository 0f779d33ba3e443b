/// Offsets of the first input, in a position record. `to` is the first that does not belong to it.
struct HandoverRange: Codable, Equatable {
  var from: Int64
  var to: Int64

  /// What to read of an input for what may be needed: this range, and the unread records.
  static func spans(_ kept: HandoverRange?, _ unread: Range<Int64>) -> [Range<Int64>] {
    guard let kept, kept.from < kept.to, kept.from < unread.lowerBound else { return [unread] }
    if kept.to >= unread.lowerBound { return [kept.from..<unread.upperBound] }
    return [kept.from..<kept.to, unread]
  }
}
