extension TransactionalProducer {
  /// The ids of topics, by name: those that exist and have one. A topic that is deleted and created again has another.
  /// - Throws: `passing` if no broker answers.
  public func topicIDs(of topics: [String], timeout: Duration) throws(TransactionalProducerError) -> [String: String] {
    // A connection that the only broker has closed is replaced here: the next transaction must know of it.
    if hasLostBroker { wasCutOff = true }
    let deadline = Deadline(after: timeout)
    let versions = try anyBroker(deadline).versions.versions[MetadataRequest.key]
    guard versions?.contains(MetadataRequest.version) ?? false else { return [:] }
    let answer = try ask(MetadataRequest(topics: topics), deadline)
    var ids: [String: String] = [:]
    for topic in answer.topics where topic.error == .none { if let name = topic.name { ids[name] = topic.id } }
    return ids
  }
}
