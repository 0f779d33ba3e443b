import NudgeSchema

/// An operator has finalised a level that this release does not know: rows and records may be of kinds that it cannot read.
///
/// The thread commits the steps before it and ends. Nothing is lost: a later release continues.
struct LevelOfLaterRelease: Error, CustomStringConvertible {
  let description: String

  init(_ level: FormatLevel, _ stage: StageDefinition, _ task: Int32, _ limits: StreamLimits) {
    description =
      "task \(task) of \(stage.name) is at level \(level), and this release knows levels up to \(limits.latestLevel): somebody has "
      + "run nudge upgrade finalize with a later release. Run that one, or a later one (docs/operations.md, Upgrade and rollback)"
  }
}
