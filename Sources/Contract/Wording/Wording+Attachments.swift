public import NudgeSchema

extension Wording {
  /// The word for an attachment that came without text.
  public func word(for kind: Attachment.Kind) -> String {
    switch kind {
    case .image: image
    case .video: video
    case .audio: audio
    case .file: file
    case .location: location
    }
  }

  /// The words for attachments that came without text: that for the first one, and how many more there are.
  public func words(for kind: Attachment.Kind, count: Int) -> String {
    count > 1 ? "\(word(for: kind)) +\(count - 1)" : word(for: kind)
  }

  /// A body in this language that ingest, which knows no recipient, wrote in English; nil: it is somebody's text.
  public func words(translating body: String, of kind: Attachment.Kind) -> String? {
    let english = Wording.english.word(for: kind)
    guard body.utf8.starts(with: english.utf8) else { return nil }
    let rest = body.utf8.dropFirst(english.utf8.count)
    guard !rest.isEmpty else { return word(for: kind) }
    guard rest.starts(with: " +".utf8), rest.count > 2, rest.count <= 4, let more = Int(String(rest.dropFirst(2)) ?? "")
    else { return nil }
    return words(for: kind, count: more + 1)
  }

  /// The notice that a person's limit is reached (D4).
  public func limitNotice(_ fallback: AnalysisFallback, limit: Int) -> String {
    let consequence =
      switch fallback {
      case .simpleRules: usingSimpleRules
      case .notifyAll: notifyingAll
      case .suppressAll: suppressingAll
      }
    return "\(limitReached.replacing("{limit}", with: String(limit))) \(consequence)"
  }
}
