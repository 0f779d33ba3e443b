public import NudgeSchema
public import ServiceKit
public import WebPush

public struct IngestRules: Sendable {
  /// How long after its time a message may still notify, in milliseconds. Ingest passes older ones on (they count for
  /// badges and have decision records); see `maxEventAge` for what it refuses.
  public var freshness: Milliseconds
  /// How far producers' clocks may be ahead, in milliseconds; what is further ahead is refused (`from_the_future`).
  public var futureTolerance: Milliseconds
  /// The age in milliseconds from which an event is refused (`too_old`): the retention of the topics it comes from.
  public var maxEventAge: Milliseconds
  /// The largest value in bytes; what is larger is refused (`too_large`) unread.
  public var maxRecordBytes: Int
  /// The longest body of a push, in grapheme clusters, the `…` of a cut text included (M3).
  public var bodyCharacters: Int
  /// The longest body of a push, in bytes of UTF-8: FCM takes 4,096 for the whole payload.
  public var bodyBytes: Int
  /// Removed members a conversation remembers at most, or a tenth of its members where that is more. Beyond it the older half is forgotten, and a change that is older
  /// than what was forgotten no longer adds anybody the conversation does not know.
  public var removedMembers: Int
  /// Devices a person may have. One more signs out the device that registered longest ago.
  public var devicesPerUser: Int
  /// How long a token is kept without a registration, in milliseconds (T5). Then its device loses it, as at a sign-out.
  public var tokenLifetime: Milliseconds
  /// Sign-outs a person's devices remember at most; the oldest are forgotten first.
  public var signedOutDevices: Int
  /// Members of conversations whose rosters are held decoded in memory, over all conversations of a thread.
  public var cachedMembers: Int
  /// Members up to which a conversation's roster is read whole, and held. With more, what a message costs at once does not depend on
  /// them: a step of its fan-out reads its own members.
  public var wholeRoster: Int
  /// The most people one step of a fan-out writes to.
  public var fanOutStep: Int
  /// The shortest pause between such steps of a task, in milliseconds. With `fanOutStep` it allows 5,555 people a second: about half of
  /// what one thread of the analyzer decides, so other conversations' messages find no queue there.
  public var fanOutPause: Milliseconds
  /// The most pending fan-outs of one conversation. Beyond it the oldest is written to its end.
  public var pendingFanOuts: Int
  /// Frames of a schema registry on producers' topics.
  public var frame: SchemaRegistryFrame
  /// Where subscriptions of Web Push may lead.
  public var endpoints: EndpointRules
  /// The name a token or an endpoint has on topics and in state: `TokenHash`, unless a test wants to see the token in it.
  public var hash: @Sendable (String) -> String

  /// Settings; the defaults are those of the service.
  public init(
    freshness: Milliseconds = 3_600_000, futureTolerance: Milliseconds = 300_000,
    maxEventAge: Milliseconds = 7 * 86_400_000, maxRecordBytes: Int = 4 << 20, bodyCharacters: Int = 1_000,
    bodyBytes: Int = 3_072, removedMembers: Int = 1_000, devicesPerUser: Int = 100,
    tokenLifetime: Milliseconds = 270 * 86_400_000, signedOutDevices: Int = 16, cachedMembers: Int = 100_000,
    wholeRoster: Int = 10_000, fanOutStep: Int = 200, fanOutPause: Milliseconds = 36, pendingFanOuts: Int = 8,
    frame: SchemaRegistryFrame = .refuse, endpoints: EndpointRules = EndpointRules(),
    hash: @escaping @Sendable (String) -> String = { TokenHash.of($0) }
  ) {
    self.freshness = freshness
    self.futureTolerance = futureTolerance
    self.maxEventAge = maxEventAge
    self.maxRecordBytes = maxRecordBytes
    self.bodyCharacters = bodyCharacters
    self.bodyBytes = bodyBytes
    self.removedMembers = removedMembers
    self.devicesPerUser = max(1, devicesPerUser)
    self.tokenLifetime = tokenLifetime
    self.signedOutDevices = signedOutDevices
    self.cachedMembers = cachedMembers
    self.wholeRoster = wholeRoster
    self.fanOutStep = fanOutStep
    self.fanOutPause = fanOutPause
    self.pendingFanOuts = max(1, pendingFanOuts)
    self.frame = frame
    self.endpoints = endpoints
    self.hash = hash
  }
}
