public import NudgeSchema

/// The answer to a `SendRequest`, or the reason for not having one.
public struct SendReply: Sendable, Equatable {
  public var id: UInt64
  public var answer: PushAnswer
  /// Requests made: 0 where none left the process, 2 where the access token was refreshed in between.
  public var requests: Int
  /// When the first request was made, by the wall clock.
  public var startedAt: Milliseconds
  /// When the answer arrived, by the wall clock.
  public var finishedAt: Milliseconds

  public init(
    id: UInt64, answer: PushAnswer, requests: Int = 1, startedAt: Milliseconds, finishedAt: Milliseconds
  ) {
    self.id = id
    self.answer = answer
    self.requests = requests
    self.startedAt = startedAt
    self.finishedAt = finishedAt
  }
}
