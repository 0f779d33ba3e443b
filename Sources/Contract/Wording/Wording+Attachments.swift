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
