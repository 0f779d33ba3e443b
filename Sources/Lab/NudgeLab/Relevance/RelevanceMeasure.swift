package import Analyzer
import Ingest
package import NudgeSchema
import StreamRuntime

/// Measures how well smart analysis finds whom a message is for, on an annotated log.
///
/// For each annotated message, the candidates are the last 20 other speakers before it; the message is for those whose
/// message it answers. Contexts come from ingest's code, scores from the analyzer's.
package struct RelevanceMeasure {
  /// The most candidates of a message.
  package static let candidates = 20

  /// The names to remove from texts before they are read.
  package enum Names: Sendable {
    case kept
    /// Members' names, from the scored message only.
    case removedFromMessage
    /// The names of everybody in the log, from all messages.
    case removedFromLog
  }

  /// A message and a candidate.
  package struct Pair {
    package var log: String
    var message: Int
    package var at: Milliseconds
    package var candidate: MessageCandidate
    package var recipient: Recipient
    var score: Double
    package var isTrue: Bool
    var features: [UInt8]
    var signals: [Signal]
    var text: String
  }

  package let scoring = RelevanceScoring(AnalyzerRules(hash: { _ in [] }))
  private let names: Names
  private let explains: Bool

  package init(names: Names = .kept, explains: Bool = false) {
    self.names = names
    self.explains = explains
  }

  /// The score from which a message counts as meant for a person.
  var threshold: Double { scoring.threshold }

  /// Scores the annotated messages of one log, given in order.
  package func judge(_ log: [ChatMessage], _ note: (Pair) throws -> Void) throws {
    var conversation = OfflineConversation()
    var speakers = LogSpeakers()
    if names == .removedFromLog {
      for message in log { conversation.join(ChatNames.user(message.nick), displayName: message.nick) }
    }
    for message in log {
      let sender = ChatNames.user(message.nick)
      conversation.join(sender, displayName: message.nick)
      let recipients = speakers.recipients(of: sender)
      var judged = conversation
      let kept = names == .removedFromLog ? conversation.text(withoutNames: message.text) : message.text
      let candidate = conversation.candidate(
        of: created(message, sender, kept), at: message.at, for: message.replyTo == nil ? [] : recipients)
      if let truth = speakers.answered(by: message) {
        let judgedCandidate =
          names == .removedFromMessage
          ? judged.candidate(
            of: created(message, sender, conversation.text(withoutNames: message.text)), at: message.at,
            for: recipients) : candidate
        for recipient in judgedCandidate.recipients {
          let explanation = explains ? scoring.explanation(judgedCandidate, for: recipient) : (signals: [], text: "")
          try note(
            Pair(
              log: message.log, message: message.number, at: message.at, candidate: judgedCandidate,
              recipient: recipient,
              score: scoring.score(judgedCandidate, for: recipient), isTrue: truth.contains(recipient.userId),
              features: scoring.features(judgedCandidate, for: recipient), signals: explanation.signals,
              text: explanation.text))
        }
      }
      speakers.wrote(message, sender)
    }
  }

  private func created(_ message: ChatMessage, _ sender: String, _ text: String) -> MessageCreated {
    MessageCreated(
      conversationId: message.log, messageId: String(message.number), senderId: sender, text: text.isEmpty ? nil : text)
  }
}

package struct RelevanceCount: Encodable, Equatable {
  package var pairs = 0
  package var positive = 0
  private(set) var found = 0
  private(set) var right = 0

  package init() {}

  package mutating func add(isTrue: Bool, isFound: Bool) {
    pairs += 1
    if isTrue { positive += 1 }
    if isFound { found += 1 }
    if isTrue && isFound { right += 1 }
  }

  /// The share of found pairs that is true; 0 without found pairs.
  package var precision: Double { found == 0 ? 0 : Double(right) / Double(found) }
  /// The share of true pairs that was found; 0 without true pairs.
  package var recall: Double { positive == 0 ? 0 : Double(right) / Double(positive) }
  /// The harmonic mean of both; 0 if both are 0.
  package var f1: Double { precision + recall == 0 ? 0 : 2 * precision * recall / (precision + recall) }

  private enum CodingKeys: String, CodingKey { case pairs, positive, precision, recall, f1 }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(pairs, forKey: .pairs)
    try fields.encode(positive, forKey: .positive)
    try fields.encode((precision * 10_000).rounded() / 10_000, forKey: .precision)
    try fields.encode((recall * 10_000).rounded() / 10_000, forKey: .recall)
    try fields.encode((f1 * 10_000).rounded() / 10_000, forKey: .f1)
  }
}
