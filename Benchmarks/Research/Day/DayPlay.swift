import NudgeSchema

/// Plays a recorded day through the stages.
enum DayPlay {
  /// 2026-03-07T12:00:00Z: clocks in America change in the night that follows.
  static let start: Milliseconds = 1_772_884_800_000
  /// How long the day continues after its last record. The catch-ups of the morning come then.
  static let rest: Milliseconds = 43_200_000

  /// Plays the records of a file.
  static func play(_ path: String, into digest: DayDigest) throws {
    let stages = DayStages(from: start, digest: digest)
    var end = start
    try DayFile.forEach(in: path) { record in
      while let due = stages.nextDue, due <= record.at { try stages.passTime() }
      try stages.take(record)
      end = max(end, record.at)
    }
    try finish(stages, after: end)
  }

  static func finish(_ stages: DayStages, after end: Milliseconds) throws {
    while let due = stages.nextDue, due <= end + rest { try stages.passTime() }
    try stages.commit()
    try stages.digest.finish()
  }
}
