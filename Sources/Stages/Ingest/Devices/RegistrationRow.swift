public import NudgeSchema

/// The token hash of a person's device. Person and device are in the row's key. The token itself is only in the claim.
public struct RegistrationRow: Sendable, Equatable, Codable {
  /// The hash of its token; nil: signed out, and the row stays so that an older registration does not bring it back.
  public internal(set) var tokenHash: String?
  /// The registration's, or the sign-out's.
  public internal(set) var stamp: EventStamp

  init(tokenHash: String?, stamp: EventStamp) {
    self.tokenHash = tokenHash
    self.stamp = stamp
  }

  private enum CodingKeys: String, CodingKey {
    case tokenHash = "h"
    case stamp = "s"
  }

  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    tokenHash = try fields.decodeIfPresent(String.self, forKey: .tokenHash)
    stamp = try fields.decodeStamp(forKey: .stamp)
  }

  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encodeIfPresent(tokenHash, forKey: .tokenHash)
    try fields.encodeStamp(stamp, forKey: .stamp)
  }
}
