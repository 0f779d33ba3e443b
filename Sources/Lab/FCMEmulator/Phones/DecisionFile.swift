internal import Foundation

/// Records of `nudge.decisions` in a file, a line of JSON each, that somebody else appends to. It is read when somebody asks
/// why.
struct DecisionFile: Sendable {
  let path: String

  /// The last decision that made this push, as it stands in the file; nil where there is none (yet).
  func decision(ofPush pushId: String) throws -> [UInt8]? {
    let data = try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
    // Ids are written in JSON with few escapes or none: the text is looked for first, as decoding all lines takes seconds.
    guard let quoted = try? JSONEncoder().encode(pushId) else { return nil }
    var end = data.endIndex
    while let found = data.range(of: quoted, options: .backwards, in: data.startIndex..<end) {
      let start = data[..<found.lowerBound].lastIndex(of: 0x0A).map { $0 + 1 } ?? data.startIndex
      let stop = data[found.upperBound...].firstIndex(of: 0x0A) ?? data.endIndex
      let line = data[start..<stop]
      if let made = try? JSONDecoder().decode(Made.self, from: line), made.pushId == pushId { return Array(line) }
      end = start
    }
    return nil
  }

  private struct Made: Decodable {
    let pushId: String?
  }
}
