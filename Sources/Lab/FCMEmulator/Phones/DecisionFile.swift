internal import Foundation

/// A file with records of `nudge.decisions`, one JSON object a line, to which another process appends.
struct DecisionFile: Sendable {
  let path: String

  /// The last decision that made this push, as written in the file. Absent while the file has none.
  func decision(ofPush pushId: String) throws -> [UInt8]? {
    let data = try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
    // Decoding all lines would take seconds, so lines are first searched for the id's JSON text.
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
