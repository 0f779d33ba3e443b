import Foundation
import HTTPTransport
import NudgeCommands
import Synchronization
import VirtualPhone

/// Reads the emulator's deliveries in the background by long polls of its admin address. Not thread-safe.
final class EmulatorStream {
  struct Delivery: Sendable {
    let message: DeliveredMessage
    /// When FCM accepted the message, in milliseconds since the epoch.
    let takenAt: Int64
  }

  /// The time-out of a poll. It is longer than the emulator's own limit of 20 s.
  private static let timeout: Duration = .seconds(40)
  /// The seconds between a failure and the next poll.
  private static let pause = 0.5

  private struct Batch: Decodable {
    struct Delivery: Decodable {
      let at: Int64
      /// The delivered message. Absent if it is not a push of Nudge's.
      let message: DeliveredMessage?

      enum CodingKeys: String, CodingKey {
        case at
        case message = "request"
      }

      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        at = try container.decode(Int64.self, forKey: .at)
        message = try? container.decode(DeliveredMessage.self, forKey: .message)
      }
    }
    let next: Int
    let missed: Int
    let deliveries: [Delivery]
  }

  private struct State {
    var arrived: [Delivery] = []
    var missed = 0
    var failure: String?
    var isOver = false
  }

  /// The state shared with the HTTP client's thread, which receives the answers.
  private final class Shared: Sendable {
    let state = Mutex(State())
  }

  private let client: HTTPClient
  private let url: String
  private let shared = Shared()

  /// Streams deliveries from now on for devices whose tokens start with `tokenPrefix`. `url` is the emulator's admin address, such as
  /// `http://127.0.0.1:8080`.
  /// - Throws: `CommandError` if no emulator answers there.
  init(url: String, tokenPrefix: String) throws {
    self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
    client = try HTTPClient(
      HTTPClientConfiguration(
        // One connection for the poll in flight, and one for a request beside it.
        maxConnectionsPerHost: 4, idleTransferLifetime: .seconds(60), maxResponseBytes: 64 << 20, plainProtocol: .http1)
    )
    let first: Batch
    do {
      first = try Self.batch(try request(method: .get, path: "/deliveries", timeout: .seconds(5)).get())
    } catch {
      client.shutdown(grace: .zero)
      throw CommandError(
        "no emulator answers at \(url): \(error). Give the address of fcm-emulator --admin-address, with http://")
    }
    Self.ask(client, self.url, tokenPrefix, after: first.next, shared)
  }

  /// The deliveries since the last call.
  /// - Throws: `CommandError` if the emulator has dropped some or does not answer.
  func take() throws -> [Delivery] {
    let (arrived, missed, failure) = shared.state.withLock { state in
      defer {
        state.arrived.removeAll()
        state.missed = 0
      }
      return (state.arrived, state.missed, state.failure)
    }
    if missed > 0 { throw CommandError("\(missed) messages were dropped by the emulator before they were read") }
    if let failure { throw CommandError("the emulator at \(url) no longer answers: \(failure)") }
    return arrived
  }

  /// Tells the emulator that a token's app was removed.
  func uninstall(token: String) throws {
    let body = try JSONEncoder().encode(["tokens": [token]])
    let response = try request(
      method: .post, path: "/emulator/uninstalled", body: Array(body), timeout: .seconds(5)
    ).get()
    guard response.status == 200 else {
      throw CommandError("the emulator answered HTTP \(response.status) to a removal of the app")
    }
  }

  func close() {
    shared.state.withLock { $0.isOver = true }
    client.shutdown(grace: .zero)
  }

  private func request(
    method: HTTPRequest.Method, path: String, body: [UInt8] = [], timeout: Duration
  ) -> Result<HTTPResponse, HTTPTransportError> {
    client.response(
      to: HTTPRequest(
        method: method, url: url + path, headers: [("Content-Type", "application/json")], body: body,
        timeout: timeout))
  }

  private static func ask(
    _ client: HTTPClient, _ url: String, _ tokenPrefix: String, after number: Int, failures: Int = 0, _ shared: Shared
  ) {
    let prefix = tokenPrefix.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    let request = HTTPRequest(
      method: .get, url: "\(url)/deliveries?after=\(number)&tokens=\(prefix)", timeout: timeout)
    client.send(request) { answer in
      guard !shared.state.withLock({ $0.isOver }) else { return }
      do {
        let batch = try batch(try answer.get())
        // Polls again before processing; new deliveries wait in the emulator.
        ask(client, url, tokenPrefix, after: batch.next, shared)
        let deliveries = batch.deliveries.compactMap { delivery in
          delivery.message.map { Delivery(message: $0, takenAt: delivery.at) }
        }
        shared.state.withLock { state in
          state.arrived += deliveries
          state.missed += batch.missed
        }
      } catch {
        guard failures < 10 else {
          let failure = "\(error)"
          shared.state.withLock { $0.failure = failure }
          return
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + pause) {
          ask(client, url, tokenPrefix, after: number, failures: failures + 1, shared)
        }
      }
    }
  }

  private static func batch(_ response: HTTPResponse) throws -> Batch {
    guard response.status == 200 else { throw CommandError("HTTP \(response.status)") }
    return try JSONDecoder().decode(Batch.self, from: Data(response.body))
  }
}
