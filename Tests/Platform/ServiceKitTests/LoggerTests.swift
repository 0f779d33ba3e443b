import Dispatch
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import ServiceKit

@Suite("Logger")
struct LoggerTests {
  private func line(_ format: LogFormat, _ log: (Logger) -> Void) -> String {
    let written = Mutex<[UInt8]>([])
    let sink = LogSink(level: .trace, format: format, wallClock: { 1_767_225_599_123 }) { entry, format in
      written.withLock { $0 += LogLine.bytes(of: entry, as: format) }
    }
    log(Logger(label: "ingest", sink: sink))
    return String(decoding: written.withLock { $0 }, as: UTF8.self)
  }

  @Test("a line is one JSON object with time, level, label, message and metadata by name")
  func json() {
    let text = line(.json) {
      $0.warning("slow \"commit\"\n", ["topic": "a\u{1}\\b", "n": 3, "ratio": 0.5, "late": true, "time": "x"])
    }
    #expect(
      text == #"{"time":"2025-12-31T23:59:59.123Z","level":"warning","label":"ingest","message":"slow \"commit\"\n","#
        + #""late":true,"n":3,"ratio":0.5,"_time":"x","topic":"a\u0001\\b"}"# + "\n")
  }

  @Test("a line about a record or request of a trace names it by OpenTelemetry's fields")
  func trace() {
    let context = TraceContext(traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
    let text = line(.json) { $0.with(context).warning("w") }
    #expect(
      text.hasSuffix(#""span_id":"00f067aa0ba902b7","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}"# + "\n"), "\(text)")
    #expect(!line(.json) { $0.with(nil).warning("w") }.contains("trace_id"))
  }

  @Test("a number that JSON cannot hold is written as text")
  func notANumber() throws {
    let text = line(.json) { $0.info("", ["a": .double(.nan), "b": .double(-.infinity)]) }
    #expect(text.hasSuffix(#""a":"nan","b":"-inf"}"# + "\n"))
    #expect((try? JSONSerialization.jsonObject(with: Data(text.utf8))) != nil)
  }

  @Test("a text line stays one line and quotes values with blanks")
  func text() {
    let text = line(.text) { $0.info("two\nlines", ["a": "b c", "d": "e", "f": ""]) }
    #expect(text == #"2025-12-31T23:59:59.123Z INFO    ingest: two\nlines a="b c" d=e f="""# + "\n")
  }

  @Test("times are right at the edges of days, months, leap years and before the epoch")
  func times() {
    let formatter = ISO8601DateFormatter()
    formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
    for milliseconds: Int64 in [
      0, -1, 951_782_399_999, 951_782_400_000, 1_709_164_800_000, 1_709_251_199_999, 4_107_542_400_000, -86_400_001,
    ] {
      let expected = formatter.string(from: Date(timeIntervalSince1970: Double(milliseconds) / 1_000))
      #expect(Timestamp.format(milliseconds) == expected)
    }
  }

  @Test("lines below the level are not written, nor their messages evaluated; the level can change at run time")
  func levels() {
    let capture = LogCapture(level: .info)
    var logger = Logger(label: "a", sink: capture.sink)
    var made = 0
    func message() -> String {
      made += 1
      return "m"
    }
    logger.debug(message())
    #expect(made == 0)
    capture.sink.level = .debug
    logger.debug(message())
    #expect(made == 1)
    logger.level = .error
    logger.warning(message())
    logger.error(message())
    #expect(capture.entries.map(\.level) == [.debug, .error])
    #expect(Logger(label: "b", sink: capture.sink).level == .debug)
  }

  @Test("metadata of the logger goes with every line, the line's own wins, and a copy does not change the original")
  func metadata() {
    let capture = LogCapture()
    let logger = Logger(label: "a", metadata: ["task": 1], sink: capture.sink)
    logger.with(label: "b", ["part": 2]).info("x", ["task": 9])
    logger.info("y")
    #expect(capture.entries.map(\.label) == ["b", "a"])
    #expect(capture.entries.map(\.metadata) == [["task": 9, "part": 2], ["task": 1]])
  }

  @Test("a line that repeats is let through once an interval and says how many were held back")
  func limited() {
    let now = Mutex<Int64>(1_000)
    let capture = LogCapture(wallClock: { now.withLock { $0 } })
    let logger = Logger(label: "fcm", sink: capture.sink)
    for millisecond in stride(from: Int64(1_000), through: 4_000, by: 500) {
      now.withLock { $0 = millisecond }
      logger.limited("429", every: .seconds(2))?.warning("quota")
      if millisecond == 1_000 { logger.limited("503", every: .seconds(2))?.warning("other") }
    }
    #expect(capture.entries.map(\.time) == [1_000, 1_000, 3_000])
    #expect(capture.entries.map { $0.metadata["repeated"] } == [nil, nil, 3])
  }

  @Test("a line goes to the descriptor whole, and lines of several threads do not mix")
  func write() throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let sink = LogSink(level: .info, descriptor: ends[1])
    let group = DispatchGroup()
    for number in 0..<4 {
      Thread.detachNewThread(in: group) {
        for _ in 0..<50 { Logger(label: "t\(number)", sink: sink).info(String(repeating: "\(number)", count: 100)) }
      }
    }
    #expect(group.wait(timeout: .now() + 30) == .success)
    close(ends[1])
    let data = try FileHandle(fileDescriptor: ends[0], closeOnDealloc: true).readToEnd() ?? Data()
    let lines = data.split(separator: 10)
    #expect(lines.count == 200)
    for line in lines {
      let object = try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: String])
      let number = try #require(object["label"]?.dropFirst())
      #expect(object["message"] == String(repeating: String(number), count: 100))
    }
  }
}

extension Thread {
  /// Runs the body on a thread of its own as part of a group.
  static func detachNewThread(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
    group.enter()
    Thread.detachNewThread {
      body()
      group.leave()
    }
  }
}
