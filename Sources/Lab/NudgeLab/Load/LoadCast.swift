/// The authors of a log's first messages. They are found by reading the log once, so that their devices can be registered
/// before the load begins.
struct LoadCast: Sendable {
  /// In the order of their first messages.
  private(set) var people: [LoadPerson]
  /// Messages of the load: fewer than asked for if the log is shorter.
  let messages: Int
  /// Conversations of these messages.
  let conversations: Int

  /// Gives browsers subscriptions at a push service, instead of tokens of FCM.
  mutating func reachBrowsers(by pushService: String) {
    for index in people.indices { people[index].pushService = pushService }
  }

  /// Reads at most `limit` messages. `prefix` is put before ids, as `LoadScript` does.
  init(_ source: ChatLogSource, messages limit: Int, seed: UInt64, prefix: String = "") throws(ChatLogError) {
    var log = try source.open()
    var order: [(userId: String, conversationId: String)] = []
    var friends: [String: String] = [:]
    var known: Set<String> = []
    var latest: [String: String] = [:]
    var count = 0
    while count < limit, let message = try log.next() {
      count += 1
      let userId = prefix + ChatNames.user(message.nick)
      let conversationId = prefix + ChatNames.conversation(message.log)
      if known.insert(userId).inserted { order.append((userId, conversationId)) }
      if let before = latest[conversationId], before != userId, friends[userId] == nil { friends[userId] = before }
      latest[conversationId] = userId
    }
    messages = count
    conversations = latest.count
    people = order.map {
      LoadPerson(userId: $0.userId, conversationId: $0.conversationId, friend: friends[$0.userId], seed: seed)
    }
  }
}
