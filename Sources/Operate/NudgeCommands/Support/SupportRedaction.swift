import Analyzer
import Dispatcher
import Ingest
import ServiceKit

/// Leaves out what a bug report must not have: everything that is not known to be public.
struct SupportRedaction {
  static let hidden = "(set, not shown)"

  /// Values that were left out, longest first; they are left out of every other file too.
  private let secrets: [String]

  /// - Parameters:
  ///   - environment: The command's, which is often that of a service.
  ///   - properties: Librdkafka's.
  init(environment: [String: String] = [:], properties: [String: String] = [:]) {
    let shown = Self.environment(environment)
    let hidden = shown.filter { $0.value == Self.hidden }.compactMap { environment[$0.key] }
    // A short one, such as a number, would take words out of the middle of others.
    secrets = (hidden + KafkaProperties.secrets(properties)).filter { $0.utf8.count >= 6 }
      .sorted { $0.utf8.count > $1.utf8.count }
  }

  /// The variables that concern Nudge. Those that a setting declares are shown as `--print-config` shows them; of others there is
  /// only the name.
  static func environment(_ variables: [String: String]) -> [String: String] {
    let own = variables.filter { name, _ in
      ["NUDGE_", "OTEL_", "GOOGLE_APPLICATION_"].contains { name.hasPrefix($0) }
    }
    var shown = own.mapValues { _ in hidden }
    for service in [IngestService.assembly, AnalyzerService.assembly, DispatcherService.assembly] {
      for (name, value) in service.schema.shown(own) {
        shown[name] = value == own[name] || !isMasked(value) ? value : hidden
      }
    }
    return shown
  }

  /// Librdkafka's properties, without secret values.
  static func properties(_ properties: [String: String]) -> [String: String] {
    KafkaProperties.shown(properties).mapValues { isMasked($0) ? hidden : $0 }
  }

  private static func isMasked(_ value: String) -> Bool { !value.isEmpty && value.allSatisfy { $0 == "*" } }

  /// A file of the bundle, line by line: URLs without login, path and query, and none of the known secrets.
  func apply(to text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let words = PublicText.line(String(line)).split(separator: " ", omittingEmptySubsequences: false).map { word in
        Self.looksLikeToken(word) ? "(a long word, not shown)" : String(word)
      }
      return secrets.reduce(words.joined(separator: " ")) { $0.replacing($1, with: Self.hidden) }
    }.joined(separator: "\n")
  }

  // MARK: Logs

  /// The last warnings, errors and crashes of a log. Long ones are cut. Other lines are left out, those of other programs among them.
  static func lastErrors(of log: String, limit: Int = 300) -> [String] {
    var isCrash = false
    let lines = log.split(separator: "\n", omittingEmptySubsequences: true).filter { line in
      if let level = level(of: line) {
        isCrash = false
        return level >= .warning
      }
      isCrash = isCrash || ["***", "💣", "Crash", "Fatal error", "Thread "].contains { line.hasPrefix($0) }
      return isCrash || line.hasPrefix("nudge-") || line.hasPrefix("nudge:")
    }
    return lines.suffix(limit).map { String($0.prefix(2_000)) }
  }

  /// That of a line that a service wrote, as JSON or as text.
  private static func level(of line: Substring) -> LogLevel? {
    if line.hasPrefix("{") {
      return LogLevel.allCases.first { line.contains("\"level\":\"\($0.rawValue)\"") } ?? .info
    }
    let words = line.split(separator: " ", maxSplits: 2)
    guard words.count == 3, words[0].hasSuffix("Z"), words[0].first?.isNumber == true else { return nil }
    return LogLevel(rawValue: words[1].lowercased())
  }

  /// FCM's tokens, keys and JSON Web Tokens are long words without punctuation of prose. Logs have none; this is in case they do.
  private static func looksLikeToken(_ word: Substring) -> Bool {
    var run = 0
    for byte in word.utf8 {
      let isPart =
        (byte >= 48 && byte <= 58) || (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122)
        || byte == 45 || byte == 95
      run = isPart ? run + 1 : 0
      if run >= 100 { return true }
    }
    return false
  }
}
