/// The people that a message of an annotated log is judged for, and those whom the log says that it answers.
package struct LogSpeakers {
  private var authors: [Int: String] = [:]
  /// The latest last.
  private var speakers: [String] = []

  package init() {}

  /// The last `RelevanceMeasure.candidates` other speakers, the latest first.
  package func recipients(of sender: String) -> [String] {
    Array(speakers.filter { $0 != sender }.suffix(RelevanceMeasure.candidates).reversed())
  }

  /// The people whose messages it answers; nil: nobody has annotated it.
  package func answered(by message: ChatMessage) -> Set<String>? {
    message.replyTo.map { Set($0.compactMap { authors[$0] }) }
  }

  /// The message was written.
  package mutating func wrote(_ message: ChatMessage, _ sender: String) {
    authors[message.number] = sender
    speakers.removeAll { $0 == sender }
    speakers.append(sender)
  }
}
