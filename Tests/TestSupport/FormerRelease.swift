public import Foundation

/// Records and state of the release before levels, as its analyzer wrote them: `Tests/Golden/before-levels`.
///
/// A program built from commit fe1c628 made them with `StageDriver`: three people with phones and one without, a direct conversation
/// and groups, preferences, reads, feedback, a deletion, and an hourly limit that is reached.
public struct FormerRelease {
  /// A record of the timeline, and when it was decided.
  public struct TimelineRecord {
    /// Its offset; its partition is 0.
    public var offset: Int64
    /// The wall clock of the step, in milliseconds since the epoch.
    public var now: Int64
    /// Its value.
    public var value: [UInt8]
  }

  private struct Times: Decodable {
    var offset: Int64
    var now: Int64
  }

  private struct Row: Decodable {
    var key: Data
    var row: Data
  }

  /// The timeline, in order.
  public let timeline: [TimelineRecord]
  /// The decisions, in order.
  public let decisions: [[UInt8]]
  /// The records of `nudge.pushes`, in order.
  public let pushes: [[UInt8]]
  /// The rows of the analyzer's state behind all of the timeline.
  public let state: [(key: [UInt8], row: [UInt8])]

  /// Reads the files.
  public init(directory: URL = Repository.file("Tests/Golden/before-levels")) throws {
    func lines(_ name: String) throws -> [[UInt8]] {
      try Data(contentsOf: directory.appendingPathComponent("\(name).jsonl")).split(separator: UInt8(ascii: "\n")).map {
        Array($0)
      }
    }
    let decoder = JSONDecoder()
    timeline = try lines("timeline").map { line in
      let times = try decoder.decode(Times.self, from: Data(line))
      // The value is the last member, and its bytes are those that were written.
      let start = Data(line).range(of: Data(#""value":"#.utf8))?.upperBound ?? 0
      return TimelineRecord(offset: times.offset, now: times.now, value: Array(line[start..<(line.count - 1)]))
    }
    decisions = try lines("decisions")
    pushes = try lines("pushes")
    state = try lines("state").map { line in
      let row = try decoder.decode(Row.self, from: Data(line))
      return (Array(row.key), Array(row.row))
    }
  }
}
