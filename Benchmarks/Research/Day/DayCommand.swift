import Foundation
import NudgeCommands
import NudgeLab
import ServiceKit

/// `nudge-research day`.
enum DayCommand {
  private static let chat = Setting<String?>(
    "chat", environment: .none, default: nil, placeholder: "FILE",
    help: "A chat log, JSON lines, plain or gzip. Without one a log is made up.")
  private static let messages = Setting<Int>(
    "messages", environment: .none, default: 12_000, in: 1...10_000_000, help: "Messages of the log that are written.")
  private static let members = Setting<Int>(
    "members", environment: .none, default: 12, in: 2...200, help: "The most members of a conversation of the log.")
  private static let record = Setting<String?>(
    "record", environment: .none, default: nil, placeholder: "FILE", help: "Writes all that the stages got to a file.")
  private static let input = Setting<String?>(
    "input", environment: .none, default: nil, placeholder: "FILE",
    help: "Plays the records of such a file, in place of a day of its own.")
  private static let keep = Setting<String?>(
    "keep", environment: .none, default: nil, placeholder: "FOLDER",
    help: "Keeps all outputs, rows and requests there, a file a topic, to compare two releases.")

  static let command = Command(
    "day",
    abstract: "What the three stages make of a day, as numbers and digests: equal digests are equal bytes.",
    discussion: """
      Plays a day through the pure stages, without Kafka and FCM, by a clock of its own: real or made-up chat, and all that people and \
      apps do beside it. Prints for each topic of each stage the records by kind and a SHA-256 of their bytes, and the same of rows and \
      of requests. A change that keeps behaviour keeps every line.
      """,
    settings: [chat, messages, members, record, input, keep, ResearchSettings.seed],
    examples: [
      "nudge-research day --chat chat.jsonl.gz --record day.tsv",
      "nudge-research day --input day.tsv --keep outputs",
    ]
  ) { values in
    var folder: URL?
    if let path = values[keep] {
      folder = URL(fileURLWithPath: path)
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    let digest = DayDigest(folder: folder)
    if let path = values[input] {
      try DayPlay.play(path, into: digest)
    } else {
      let source: ChatLogSource = values[chat].map { .file($0) } ?? .generated(seed: values.seed)
      let script = try DayScript(
        source, messages: values[messages], members: values[members], seed: values.seed)
      let file = try values[record].map { try DayOutput(URL(fileURLWithPath: $0)) }
      try script.play(into: digest) { try file?.write(DayFile.line($0)) }
      try file?.close()
      print("\(source.name), \(values[messages]) messages, seed \(values.seed)")
    }
    print("\(digest.decisions) final decisions")
    for line in digest.lines { print(line) }
    return ExitCode.success
  }
}
