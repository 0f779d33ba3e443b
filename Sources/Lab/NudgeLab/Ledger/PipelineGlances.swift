import NudgeSchema

/// The fields the ledger needs of a record on `nudge.timeline`.
struct TimelineGlance: Decodable {
  struct Recipient: Decodable { let userId: String }
  let type: String
  let origin: Origin
  let userId: String?
  let deviceId: String?
  let messageId: String?
  let recipients: [Recipient]?
}

/// The fields the ledger needs of a record on `nudge.pushes`; a `push.cancelled` has no push id.
struct PushGlance: Decodable {
  struct Target: Decodable { let deviceId: String }
  let pushId: String?
  let kind: Push.Kind?
  let replaces: Bool?
  let messageId: String?
  let targets: [Target]?
  let origin: Origin

  /// The message it was decided for; nil for badges, reads, edits and deletions, whose message was decided earlier.
  var decidedMessageId: String? { kind == .deleted || kind == .read || replaces == true ? nil : messageId }
}

/// What counts as a banner: not that an open app is told what changed.
struct BannerGlance: Decodable {
  let type: String

  var isShown: Bool { type == "banner" || type == "notice" }
}
