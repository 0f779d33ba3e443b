import Foundation
import Ingest
import Kafka
import NudgeSchema
import ServiceKit

/// `nudge rejections`.
enum RejectionsCommand {
  private static let producer = Setting<String>(
    required: "producer", environment: .none, placeholder: "NAME",
    help: "The name of the producer's API key, as in the file of --api-keys-file.",
    check: { $0.isEmpty ? "the name of an API key" : nil })
  private static let since = TimeSpan.since("Those refused", default: .seconds(3_600))
  private static let until = TimeSpan.until("Those refused")
  private static let limit = Setting<Int>(
    "limit", environment: .none, default: 100, in: 1...100_000, help: "The most to print, the latest ones.")
  private static let follow = Setting<Bool>(
    "follow", environment: .none, default: false, help: "Continue with new ones until Ctrl-C.")
  private static let json = Setting<Bool>(
    "json", environment: .none, default: false, help: "Print one line of JSON each.")

  static let command = Command(
    "rejections",
    abstract: "Shows events of a producer that were accepted, then refused.",
    discussion: "The producer itself asks with its own key: GET /v1/rejections.",
    settings: ClusterSettings.all + [producer, since, until, limit, follow, json],
    examples: [
      "nudge rejections --producer chat-backend --since 2h --bootstrap-servers kafka:9092",
      "nudge rejections --producer chat-backend --follow --bootstrap-servers kafka:9092",
    ]
  ) { input in
    let span = try TimeSpan.of(since: input[since], until: input[until], now: SystemClock.milliseconds())
    guard !input[follow] || span.to == nil else { throw SettingsError("--follow and --until exclude each other") }
    let wanted = Array(input[producer].utf8)
    let browser = try TopicBrowser(ClusterSettings(input))
    return try browser.show(
      try browser.ranges(of: .deadLetters, from: span.from, until: span.to), of: .deadLetters,
      latest: Latest<ProducerRejection>(input[limit]) { $0.refusedAt < $1.refusedAt }, noun: "one",
      follows: input[follow]
    ) { record in
      ProducerRejection(record, producer: wanted)
    } print: { rejection in
      try CommandOutput.print(rejection, asJSON: input[json], text: rejection.text)
    }
  }
}
