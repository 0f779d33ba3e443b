/// A question from the page: a name, and parameters as texts.
package struct ConsoleQuestion: Decodable, Sendable, Equatable {
  package let ask: String
  private let with: [String: String]

  package init(_ ask: String, with parameters: [String: String] = [:]) {
    self.ask = ask
    with = parameters
  }

  /// A parameter; nil if it is missing or empty.
  package subscript(_ name: String) -> String? { with[name].flatMap { $0.isEmpty ? nil : $0 } }
}

/// Facts that every page shows.
package struct ConsoleFacts: Encodable, Sendable {
  package var version: String
  /// The cluster, for commands that the operator copies.
  package var bootstrapServers: String
  package var topicPrefix: String
  /// Whether actions may write.
  package var allowsActions: Bool
  /// Whether texts of messages are shown.
  package var showsTexts: Bool
  /// The page with a demo's phones; nil if there is none.
  package var phones: String?
  /// A key that requests which ask or write send in a header. Only the console's own page can read it.
  var key = ""

  package init(
    version: String, bootstrapServers: String, topicPrefix: String, allowsActions: Bool, showsTexts: Bool,
    phones: String?
  ) {
    self.version = version
    self.bootstrapServers = bootstrapServers
    self.topicPrefix = topicPrefix
    self.allowsActions = allowsActions
    self.showsTexts = showsTexts
    self.phones = phones
  }
}

/// Answers the page's questions.
package protocol ConsoleAnswers: Sendable {
  var facts: ConsoleFacts { get }

  /// Whether a question writes. Such a question needs `allowsActions`, and continues if nobody reads its rows.
  func isAction(_ question: ConsoleQuestion) -> Bool

  /// Answers on the question's own thread with rows that it writes to `job`. The text of a thrown error is shown.
  func answer(_ question: ConsoleQuestion, to job: ConsoleJob) throws
}
