internal import Foundation

/// The endpoints that observe and control a running emulator. HTTP/2 serves them beside FCM's endpoints, HTTP/1.1 beside the
/// page with the phones.
struct EmulatorControl: Sendable {
  /// An endpoint, by its path.
  enum Endpoint: String, CaseIterable {
    /// `GET`: the counters.
    case stats = "/emulator/stats"
    /// `GET`: messages by device token and status, if they are counted.
    case tokens = "/emulator/tokens"
    /// `POST`: replaces the faults.
    case faults = "/emulator/faults"
    /// `POST`: marks the apps with these tokens as removed.
    case uninstalled = "/emulator/uninstalled"

    /// POST or GET.
    var isPost: Bool {
      switch self {
      case .stats, .tokens: false
      case .faults, .uninstalled: true
      }
    }
  }

  let ledger: EmulatorLedger
  /// The seed for a request to `faults` that names none.
  let seed: UInt64
  let countsTokens: Bool

  /// The answer to a request with the endpoint's method; always JSON.
  func answer(to endpoint: Endpoint, body: UnsafeRawBufferPointer) -> EmulatorAnswer {
    switch endpoint {
    case .stats: EmulatorAnswer(status: 200, body: ledger.counters.json + "\n")
    case .tokens:
      countsTokens
        ? EmulatorAnswer(status: 200, body: ledger.tokenJSON + "\n")
        : Self.refusal(404, "messages are counted by token only with --count-tokens")
    case .faults: replaceFaults(body)
    case .uninstalled: uninstall(body)
    }
  }

  private func replaceFaults(_ body: UnsafeRawBufferPointer) -> EmulatorAnswer {
    do {
      let file = try JSONDecoder().decode(FaultFile.self, from: Data(body))
      if let objection = file.objection { throw FCMEmulatorError(objection) }
      ledger.setFaults(file.faults, seed: file.seed ?? seed)
      return EmulatorAnswer(status: 200, body: "{\"faults\":\(file.faults.count)}\n")
    } catch {
      return Self.refusal(400, "\(error)")
    }
  }

  private struct Uninstalled: Decodable {
    let tokens: [String]
  }

  private func uninstall(_ body: UnsafeRawBufferPointer) -> EmulatorAnswer {
    guard let asked = try? JSONDecoder().decode(Uninstalled.self, from: Data(body)) else {
      return Self.refusal(400, "use {\"tokens\": [\"…\"]}")
    }
    ledger.uninstall(asked.tokens)
    return EmulatorAnswer(status: 200, body: "{\"tokens\":\(asked.tokens.count)}\n")
  }

  private static func refusal(_ status: Int, _ reason: String) -> EmulatorAnswer {
    EmulatorAnswer(status: status, body: "{\"error\":\(quoted(reason))}\n")
  }
}
