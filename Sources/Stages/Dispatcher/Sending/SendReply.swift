public import NudgeSchema

/// What became of a `SendRequest`.
public struct SendReply: Sendable, Equatable {
  /// The request's id.
  public var id: UInt64
  /// What FCM, or the way to it, said.
  public var answer: FCMAnswer
  /// Requests that were made: 0 where none could leave (no access token), 2 where the access token was refreshed between.
  public var requests: Int
  /// When the first was made, by the wall clock.
  public var startedAt: Milliseconds
  /// When the answer was there, by the wall clock.
  public var finishedAt: Milliseconds

  /// A reply.
  public init(id: UInt64, answer: FCMAnswer, requests: Int = 1, startedAt: Milliseconds, finishedAt: Milliseconds) {
    self.id = id
    self.answer = answer
    self.requests = requests
    self.startedAt = startedAt
    self.finishedAt = finishedAt
  }
}
