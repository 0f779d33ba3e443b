import CZlib
import NudgeCommands
package import ServiceKit

/// The annotated chat logs that a command line names: files, and the part of the logs in them.
package enum AnnotatedLogs {
  package static let files = PositionalArgument("file", help: "Chat logs, JSON lines, plain or gzip.", count: .many)

  package static let split = Setting<SplitChoice>(
    "split", environment: .none, default: .all,
    help:
      "all logs, or those of one part of the training script's split: held-out, validation or training. A log's part "
      + "follows from its name alone.")

  /// Passes the messages of each of these logs to `body`, in order.
  /// - Throws: `CommandError`: there are none.
  package static func forEach(_ input: CommandInput, _ body: ([ChatMessage]) throws -> Void) throws {
    var isEmpty = true
    for path in input.arguments("file") {
      try forEachLog(in: path) { log in
        guard input[split].contains(log[0].log) else { return }
        isEmpty = false
        try body(log)
      }
    }
    if isEmpty { throw CommandError("none of the logs is in the part that --split names") }
  }

  /// Passes the messages of each log to `body`, in order; a file has each log's lines together.
  private static func forEachLog(in path: String, _ body: ([ChatMessage]) throws -> Void) throws {
    let file = try ChatLogFile(path: path)
    var log: [ChatMessage] = []
    while let message = try file.next() {
      if let first = log.first, first.log != message.log {
        try body(log)
        log.removeAll(keepingCapacity: true)
      }
      log.append(message)
    }
    if !log.isEmpty { try body(log) }
  }
}

/// The values of `--split`: a part of the training script's split, which follows from a log's name.
package enum SplitChoice: String, CaseIterable, SettingValue {
  case all
  case heldOut = "held-out"
  case validation
  case training

  /// Whether the log is in this part: CRC-32 of its name modulo 5 is 0 for held-out logs, 1 for validation.
  func contains(_ log: String) -> Bool {
    var name = Array(log.utf8)
    let remainder = crc32(0, &name, UInt32(name.count)) % 5
    switch self {
    case .all: return true
    case .heldOut: return remainder == 0
    case .validation: return remainder == 1
    case .training: return remainder > 1
    }
  }
}
