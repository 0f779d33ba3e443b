import Foundation

/// The texts of a backlog's messages: a chat log's in order, or generated ones.
struct ChatTexts {
  private static let phrases = [
    "shall we meet at the harbour at seven?", "yes", "ok", "no, sorry", "who has the keys?", "half past seven",
    "I can bring the tickets, and somebody has to bring the map", "is the meeting still at ten?", "same here",
    "the cat is on the roof again", "that was a great evening", "which branch has the fix?", "haha", "👍", "well done!",
    "see https://example.org/timetable for the new times", "it stopped working after the update",
    "panic: index out of range [3] with length 3, again, in the same place as yesterday", "on the kitchen table",
    "does the 14:32 stop in Lund?", "urgent: the water is off, is it only us?", "I will be ten minutes late",
    "two more would be good", "kommst du nachher noch vorbei?", "¿vienes mañana?", "no idea, let me look",
    "the second one, the first was reverted", "the concert is sold out, but there is a list", "done ✅",
  ]

  private let texts: [String]
  private var next = 0

  /// Texts of a chat log: JSON lines with a `text` each, plain or gzip. Empty texts are skipped; the log repeats at its end.
  init(file: String, limit: Int) throws {
    struct Line: Decodable { let text: String }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    // -f copies input that is not gzip unchanged.
    process.arguments = ["-c", "gzip -cdf -- \"$1\" | head -n \"$2\"", "sh", file, String(2 * limit)]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let decoder = JSONDecoder()
    texts = try data.split(separator: 0x0A).lazy.map { try decoder.decode(Line.self, from: Data($0)).text }
      .filter { !$0.isEmpty }
    guard !texts.isEmpty else { throw BenchmarkFailure("\(file) has no texts; a line is {…,\"text\":\"…\"}") }
  }

  /// Generated texts of one to three phrases, the same each time.
  init(count: Int) {
    // Numerical Recipes' generator is good enough for variety.
    var state: UInt32 = 1
    func draw(_ count: Int) -> Int {
      state = state &* 1_664_525 &+ 1_013_904_223
      return Int(state >> 8) % count
    }
    texts = (0..<count).map { _ in
      (0...draw(3)).map { _ in Self.phrases[draw(Self.phrases.count)] }.joined(separator: " ")
    }
  }

  /// The next text.
  mutating func take() -> String {
    defer { next = (next + 1) % texts.count }
    return texts[next]
  }
}
