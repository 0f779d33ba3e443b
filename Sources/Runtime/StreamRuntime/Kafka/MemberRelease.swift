import Foundation
public import NudgeSchema
import ServiceKit

/// The release of a member of a stage's group, which the `client.id` of its consumer ends with.
public struct MemberRelease: Sendable, Equatable, CustomStringConvertible {
  /// nil: one before 0.3.0, whose `client.id` has none.
  public let version: String?
  /// The highest level that it knows; nil: one before levels.
  public let latestLevel: FormatLevel?

  /// This release.
  static let current = MemberRelease(version: NudgeVersion.current, latestLevel: .latest)
  private static let levelMark = "-level-"

  init(version: String?, latestLevel: FormatLevel?) {
    self.version = version
    self.latestLevel = latestLevel
  }

  /// The release of a member of a group; nil: it has a `client.id` of the operator's own, which does not tell.
  /// - Parameter stage: the beginning of the transactional ids of the stage's threads.
  init?(clientID: String, of stage: String) {
    guard clientID.hasPrefix(stage), let mark = clientID.range(of: GroupMembers.formerSuffix, options: .backwards)
    else { return nil }
    let rest = clientID[mark.upperBound...]
    guard rest.isEmpty || rest.hasPrefix("-") else { return nil }
    let name = rest.dropFirst()
    let level = name.range(of: Self.levelMark, options: .backwards)
    let number = level.flatMap { Int32(name[$0.upperBound...]) }
    let version = level.flatMap { number == nil ? nil : name[..<$0.lowerBound] } ?? name
    self.init(version: version.isEmpty ? nil : String(version), latestLevel: number.map { FormatLevel($0) })
  }

  /// The end of a `client.id`.
  var suffix: String {
    GroupMembers.formerSuffix + (version.map { "-\($0)" } ?? "") + (latestLevel.map { "\(Self.levelMark)\($0)" } ?? "")
  }

  public var description: String {
    (version ?? "a release before 0.3.0")
      + (latestLevel.map { ", which knows level \($0)" } ?? ", which knows no levels")
  }
}
