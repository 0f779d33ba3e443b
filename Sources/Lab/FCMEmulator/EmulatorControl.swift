internal import Foundation
internal import VirtualPhone
internal import WebPush

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
    /// `POST`: makes subscriptions of browsers.
    case subscriptions = "/emulator/subscriptions"

    /// Whether the endpoint's method is POST. Else it is GET.
    var isPost: Bool {
      switch self {
      case .stats, .tokens: false
      case .faults, .uninstalled, .subscriptions: true
      }
    }
  }

  let ledger: EmulatorLedger
  /// The seed of a request to `faults` that names none.
  let seed: UInt64
  let countsTokens: Bool
  /// The base URL of the push service.
  let pushService: String

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
    case .subscriptions: subscribe(body)
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

  private struct Names: Decodable {
    let names: [String]
  }

  private func subscribe(_ body: UnsafeRawBufferPointer) -> EmulatorAnswer {
    guard let asked = try? JSONDecoder().decode(Names.self, from: Data(body)) else {
      return Self.refusal(400, #"use {"names": ["…"]}"#)
    }
    let made = asked.names.compactMap { BrowserSubscription(name: $0) }
    guard made.count == asked.names.count else {
      return Self.refusal(400, "a name has 1 to 200 letters, digits, -, _ and ~")
    }
    let subscriptions = made.map { subscription in
      let (endpoint, receiver) = (quoted(subscription.endpoint(at: pushService)), subscription.receiver)
      return #"{"endpoint":\#(endpoint),"p256dh":"\#(receiver.p256dh)","auth":"\#(receiver.auth)"}"#
    }
    return EmulatorAnswer(status: 200, body: #"{"subscriptions":[\#(subscriptions.joined(separator: ","))]}"# + "\n")
  }

  private static func refusal(_ status: Int, _ reason: String) -> EmulatorAnswer {
    EmulatorAnswer(status: status, body: "{\"error\":\(quoted(reason))}\n")
  }
}
