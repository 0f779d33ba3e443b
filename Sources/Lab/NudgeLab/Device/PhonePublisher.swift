import Foundation
import HTTPTransport
import Kafka
import NudgeSchema
import ServiceKit
import Synchronization

struct PublishResult: Sendable {
  let eventId: String
  /// Why the event was not published. Absent if it was accepted.
  let failure: String?
}

/// Publishes phones' events. Not thread-safe.
protocol PhonePublisher: AnyObject {
  /// Publishes an event, a JSON object, in the background. `key` is the key on its topic.
  func publish(_ event: [UInt8], id: String, to topic: Topic, key: String)
  /// Waits at most the given time, and returns the results since the last call.
  func results(waiting: Duration) -> [PublishResult]
  /// Stops. Pending events get no result.
  func close()
}

/// Publishes to Kafka, as an app's backend does.
final class KafkaPhonePublisher: PhonePublisher {
  private struct State {
    var open: [UInt64: String] = [:]
    var lastTag: UInt64 = 0
    var results: [PublishResult] = []
  }

  /// Shared with the delivery callback, which the producer needs before `self` exists.
  private final class Shared: Sendable {
    let state = Mutex(State())
  }

  private let producer: Producer
  private let topics: TopicNames
  private let shared = Shared()

  /// Connects in the background.
  init(_ configuration: ClientConfiguration, topics: TopicNames) throws(KafkaError) {
    self.topics = topics
    let shared = shared
    producer = try Producer(
      configuration, name: "nudge-device",
      onDelivery: { delivery in
        shared.state.withLock { state in
          guard let id = state.open.removeValue(forKey: delivery.tag) else { return }
          state.results.append(PublishResult(eventId: id, failure: delivery.error.map { "\($0)" }))
        }
      })
  }

  func publish(_ event: [UInt8], id: String, to topic: Topic, key: String) {
    let tag = shared.state.withLock { state in
      state.lastTag += 1
      state.open[state.lastTag] = id
      return state.lastTag
    }
    do throws(KafkaError) {
      try producer.produce(
        topic: try producer.topic(topics(topic)), partition: Producer.anyPartition, key: Array(key.utf8), value: event,
        tag: tag)
    } catch {
      shared.state.withLock { state in
        state.open[tag] = nil
        state.results.append(PublishResult(eventId: id, failure: "\(error)"))
      }
    }
  }

  func results(waiting: Duration) -> [PublishResult] {
    producer.poll(timeout: waiting)
    return shared.state.withLock { state in
      defer { state.results.removeAll() }
      return state.results
    }
  }

  func close() { producer.close() }
}

/// Publishes over ingest's HTTP API, as an app does.
final class HTTPPhonePublisher: PhonePublisher {
  /// The most events in a request.
  private static let mostAtOnce = 500

  private final class Shared: Sendable {
    let results = Mutex<[PublishResult]>([])
    /// Signalled by each answer.
    let news = DispatchSemaphore(value: 0)
  }

  private struct Answer: Decodable {
    struct Result: Decodable {
      let status: String
      let code: String?
      let message: String?
    }
    let results: [Result]
  }

  private let client: HTTPClient
  private let url: String
  private let credentials: String
  private let shared = Shared()
  private var queued: [(event: [UInt8], id: String)] = []

  /// `url` is the API's base address, `credentials` an API key or a JSON Web Token.
  /// - Throws: `HTTPTransportError` if libcurl cannot be initialised.
  init(url: String, credentials: String) throws(HTTPTransportError) {
    self.url = url + (url.hasSuffix("/") ? "v1/events" : "/v1/events")
    self.credentials = credentials
    client = try HTTPClient(
      HTTPClientConfiguration(maxResponseBytes: 1 << 20, plainProtocol: .http1))
  }

  func publish(_ event: [UInt8], id: String, to topic: Topic, key: String) {
    queued.append((event, id))
  }

  func results(waiting: Duration) -> [PublishResult] {
    while !queued.isEmpty {
      send(Array(queued.prefix(Self.mostAtOnce)))
      queued.removeFirst(min(queued.count, Self.mostAtOnce))
    }
    // A signal left over from an answer that was already taken ends the wait early. The caller calls again.
    if shared.results.withLock({ $0.isEmpty }) { _ = shared.news.wait(timeout: .now() + waiting.seconds) }
    return shared.results.withLock { results in
      defer { results.removeAll() }
      return results
    }
  }

  private func send(_ batch: [(event: [UInt8], id: String)]) {
    let shared = shared
    let ids = batch.map(\.id)
    let request = HTTPRequest(
      url: url,
      headers: [("Content-Type", "application/x-ndjson"), ("Authorization", "Bearer \(credentials)")],
      body: Array(batch.map(\.event).joined(separator: [0x0A])))
    client.send(request) { answer in
      let results = Self.results(of: answer, ids)
      shared.results.withLock { $0 += results }
      shared.news.signal()
    }
  }

  private static func results(of answer: Result<HTTPResponse, HTTPTransportError>, _ ids: [String]) -> [PublishResult] {
    func all(_ failure: String) -> [PublishResult] { ids.map { PublishResult(eventId: $0, failure: failure) } }
    switch answer {
    case .failure(let error): return all("\(error)")
    case .success(let response):
      guard let results = try? JSONDecoder().decode(Answer.self, from: Data(response.body)).results,
        results.count == ids.count
      else { return all("HTTP \(response.status): \(String(decoding: response.body.prefix(200), as: UTF8.self))") }
      return zip(ids, results).map { id, result in
        PublishResult(
          eventId: id,
          failure: result.status == "accepted" ? nil : "\(result.code ?? "rejected"): \(result.message ?? "")")
      }
    }
  }

  func close() { client.shutdown(grace: .seconds(2)) }
}
