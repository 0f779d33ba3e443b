import Foundation
import Kafka
import NudgeClient
import NudgeConsole
import NudgeSchema
import ServiceKit

/// The HTTP API whose stream of decisions the console shows.
package struct ConsoleStream: Sendable {
  /// The API's address.
  package var url: String
  /// A backend's key.
  package var apiKey: String

  package init(url: String, apiKey: String) {
    self.url = url
    self.apiKey = apiKey
  }
}

/// The page Live: decisions as they are made. With a backend's key they come from `GET /v1/live`, otherwise from the topic.
extension CommandAnswers {
  private static let pause: Duration = .seconds(1)
  /// Comments come every 15 s, so a stream that is silent for longer is dead.
  private static let silence: Duration = .seconds(45)

  func live(_ question: ConsoleQuestion, _ job: ConsoleJob) throws {
    let redaction = Redaction(showsTexts: options.showsTexts)
    func show(_ value: JSONValue, at time: Milliseconds) throws {
      let record = redaction.apply(to: value, of: .decisions)
      try job.write(fields: [
        "row": "decision", "decision": ["timestamp": time, "record": record] as JSONObject,
        "words": StoryWords.Decision(record),
      ])
    }
    if let stream = options.stream { return try follow(stream, of: question["user"], job, show) }
    try reading(for: job) { browser in
      let partitions = try question["user"].map { try browser.partitions(of: $0, on: .decisions) }
      let ranges = try browser.ranges(of: .decisions, partitions: partitions)
      job.report("live, from \(browser.names(.decisions))")
      let wanted = question["user"].map { Array($0.utf8) }
      try browser.follow(ranges) { record in
        if let record, wanted.map({ record.key?.elementsEqual($0) == true }) ?? true,
          let json = record.value.flatMap({ try? JSONValue($0) })
        {
          try show(json, at: record.timestamp)
        }
        return !job.isCancelled
      }
    }
  }

  /// Reads the stream until the page is closed. If the stream ends, it is opened again at its last position.
  private func follow(
    _ stream: ConsoleStream, of userId: String?, _ job: ConsoleJob, _ show: (JSONValue, Milliseconds) throws -> Void
  ) throws {
    let connection = EventStreamConnection(try EventStreamAddress(url: stream.url))
    let person = userId.flatMap { $0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) }
    var parser = EventStreamParser()
    while !job.isCancelled {
      var headers = [(name: "Authorization", value: "Bearer \(stream.apiKey)")]
      if !parser.lastEventId.isEmpty { headers.append(("Last-Event-ID", parser.lastEventId)) }
      _ = connection.open("/v1/live" + (person.map { "?userId=\($0)" } ?? ""), headers: headers)
      var readAt = ContinuousClock.now
      while connection.isOpen, !job.isCancelled, readAt.duration(to: .now) < Self.silence {
        for part in connection.parts(within: 200) {
          readAt = .now
          switch part {
          case .head(200, _): break
          case .head(let status, _) where status == 429 || status >= 500: connection.close()
          case .head(let status, _):
            throw CommandError("\(stream.url)/v1/live answers \(status): it needs a backend's key (NUDGE_API_KEY)")
          case .ended: break
          case .bytes(let bytes):
            // The first event shows where the stream continues.
            job.report("live, by GET /v1/live")
            for event in parser.receive(bytes) where event.name == EventType.decision.rawValue {
              guard let json = try? JSONValue(Array(event.data.utf8)) else { continue }
              try show(json, json["decidedAt"]?.integer ?? SystemClock.milliseconds())
            }
          }
        }
      }
      connection.close()
      parser.ended()
      guard !job.isCancelled else { return }
      job.report("the stream of \(stream.url) has ended: it is opened again")
      job.wait(atMost: Self.pause)
    }
  }
}
