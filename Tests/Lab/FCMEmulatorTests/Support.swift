@testable import FCMEmulator
import Foundation
import HTTPTransport
import Synchronization

/// A running emulator with a client for it.
struct Desk {
  let emulator: FCMEmulator
  let client: HTTPClient
  let token: String

  init(
    _ configuration: FCMEmulatorConfiguration = FCMEmulatorConfiguration(),
    keptHeaders: [String] = ["retry-after", "content-type", "content-length"]
  ) throws {
    emulator = try FCMEmulator(configuration)
    emulator.start()
    client = try HTTPClient(HTTPClientConfiguration(caFile: emulator.caFile, keptHeaders: keptHeaders))
    token = emulator.issueAccessToken()
  }

  /// Sends a body to `messages:send`.
  func send(
    _ body: [UInt8], project: String = "nudge-demo", authorization: String? = nil,
    contentType: String = "application/json", timeout: Duration = .seconds(15)
  ) async -> Result<HTTPResponse, HTTPTransportError> {
    await post(
      emulator.url + "/v1/projects/\(project)/messages:send", body,
      headers: [("authorization", authorization ?? "Bearer \(token)"), ("content-type", contentType)], timeout: timeout)
  }

  func send(_ body: String) async throws -> HTTPResponse { try await send(Array(body.utf8)).get() }

  func message(to device: String, timeout: Duration = .seconds(15)) async -> Result<HTTPResponse, HTTPTransportError> {
    await send(Array(#"{"message":{"token":"\#(device)"}}"#.utf8), timeout: timeout)
  }

  func post(
    _ url: String, _ body: [UInt8], headers: [(String, String)], timeout: Duration = .seconds(15)
  ) async -> Result<HTTPResponse, HTTPTransportError> {
    let request = HTTPRequest(url: url, headers: headers, body: body, timeout: timeout)
    return await withCheckedContinuation { continuation in
      client.send(request) { continuation.resume(returning: $0) }
    }
  }

  func end() {
    client.shutdown(grace: .seconds(5))
    emulator.stop()
  }
}

/// Google's JSON for an error, as a client reads it.
struct ErrorBody: Decodable {
  struct Violation: Decodable {
    let field: String
    let description: String
  }
  struct Detail: Decodable {
    let type: String
    let errorCode: String?
    let reason: String?
    let fieldViolations: [Violation]?

    enum CodingKeys: String, CodingKey {
      case type = "@type"
      case errorCode, reason, fieldViolations
    }
  }
  struct Content: Decodable {
    let code: Int
    let message: String
    let status: String
    let details: [Detail]?
  }
  let error: Content

  init(_ response: HTTPResponse) throws {
    self = try JSONDecoder().decode(ErrorBody.self, from: Data(response.body))
  }

  var fcmCode: String? { error.details?.compactMap(\.errorCode).first }
  var reason: String? { error.details?.compactMap(\.reason).first }
  var violation: Violation? { error.details?.compactMap { $0.fieldViolations?.first }.first }
}

/// A folder of its own, removed by ``remove()``.
struct ScratchFolder {
  let path = FileManager.default.temporaryDirectory.appendingPathComponent("nudge-\(UUID().uuidString)").path

  init() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  func file(_ name: String) -> String { path + "/" + name }

  func remove() throws { try FileManager.default.removeItem(atPath: path) }
}

/// A time of day that a test sets.
final class Clock: Sendable {
  private let seconds: Mutex<Double>

  init(_ date: Date = Date(timeIntervalSince1970: 1_800_000_000)) {
    seconds = Mutex(date.timeIntervalSince1970)
  }

  var now: Date { Date(timeIntervalSince1970: seconds.withLock { $0 }) }

  func advance(_ interval: Double) { seconds.withLock { $0 += interval } }
}
