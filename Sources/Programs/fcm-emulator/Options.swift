import FCMEmulator
import Foundation

/// The program's flags.
struct Options {
  static let help = """
    fcm-emulator: a stand-in for Firebase Cloud Messaging (HTTP v1) and Google's OAuth server.

    Usage: fcm-emulator [flags]

      --listen HOST:PORT        TLS, HTTP/2 (default 127.0.0.1:0, the system chooses the port)
      --plain-listen HOST:PORT  HTTP/2 without TLS, prior knowledge (default 127.0.0.1:0)
      --directory DIR           where ca.pem and service-account.json are written (default: a temporary folder)
      --project NAME            a project it knows; may be repeated (default nudge-demo)
      --record FILE             append every request as a line of JSON; access tokens are masked
      --faults FILE             what goes wrong, see below
      --admin-address HOST:PORT serves a page with the phones: lock screen and badge of each device, live;
                                and below /emulator what is named last here, over HTTP/1.1
      --decisions FILE          records of nudge.decisions, a line each: the page tells why a push was made
      --delay DURATION          how long answers to messages are held back: 50ms, 1.5s (default 0ms)
      --stream-limit N          streams a connection may have open at a time (default 100)
      --count-tokens            count messages by device token, for GET /emulator/tokens
      --accept-any-token        take any bearer token, for benchmarks
      --help                    this text

    When it is ready it prints one line of JSON: {"ready":true,"url":…,"plainUrl":…,"serviceAccount":…,"caFile":…},
    with "adminUrl" where there is the page.
    SIGTERM or SIGINT ends it, with one line of totals. GET /emulator/stats gives the same while it runs,
    GET /emulator/tokens messages by device token and status. POST /emulator/faults replaces the faults by those of its body.
    POST /emulator/uninstalled, {"tokens": […]}: these are UNREGISTERED from then on, as of apps that were removed.
    GET /deliveries?after=NUMBER&tokens=PREFIX, at the admin address: what devices get, as soon as there is something.

    Exit status: 0 after SIGTERM or SIGINT, 1 when it cannot start, 2 for a wrong flag.

    Examples:
      fcm-emulator --directory /tmp/fcm --record /tmp/fcm/requests.jsonl
      fcm-emulator --listen 127.0.0.1:8443 --delay 50ms --faults faults.json
      fcm-emulator --admin-address 127.0.0.1:8080 --decisions decisions.jsonl
      curl --http2 --cacert /tmp/fcm/ca.pem https://127.0.0.1:8443/emulator/stats
      curl http://127.0.0.1:8080/emulator/faults -d '{"faults": [{"ratio": 0.2, "answer": "UNAVAILABLE"}]}'

    A file of faults; the first that matches and does something wins:
      {"seed": 7, "faults": [
        {"tokenPrefix": "gone-", "answer": "UNREGISTERED"},
        {"ratio": 0.2, "answer": "UNAVAILABLE", "retryAfter": "5", "times": 1000},
        {"tokenPrefix": "slow-", "delayMs": 400},
        {"tokenPrefix": "cut-", "action": "reset"},
        {"tokenPrefix": "odd-", "status": 418, "body": "short and stout"},
        {"endpoint": "token", "skip": 1, "status": 503}]}
      answer: \(FCMAnswer.Name.allCases.map(\.rawValue).joined(separator: ", "))
      action: reset, resetStream, hang, hangAfterHeaders, brokenBody, goAway

    """

  var configuration = FCMEmulatorConfiguration()
  var wantsHelp = false

  /// Reads the flags after the program's name.
  init(_ arguments: [String]) throws {
    var projects: [String] = []
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      // "--flag=value" is "--flag value".
      let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
      let flag = parts.first ?? argument
      func value() throws -> String {
        if parts.count == 2 { return parts[1] }
        guard let next = rest.popFirst() else { throw UsageError("\(flag) needs a value") }
        return next
      }
      switch flag {
      case "--help", "-h": wantsHelp = true
      case "--count-tokens": configuration.countsTokens = true
      case "--stream-limit":
        let text = try value()
        guard let limit = Int(text), (1...10_000).contains(limit) else {
          throw UsageError("\(flag) \(text): a number from 1 to 10000 is needed")
        }
        configuration.maxConcurrentStreams = limit
      case "--accept-any-token": configuration.acceptAnyToken = true
      case "--listen": configuration.listen = try Self.address(flag, try value())
      case "--plain-listen": configuration.plainListen = try Self.address(flag, try value())
      case "--directory": configuration.directory = try value()
      case "--project": projects.append(try value())
      case "--record": configuration.recordFile = try value()
      case "--admin-address": configuration.adminAddress = try Self.address(flag, try value())
      case "--decisions": configuration.decisionFile = try value()
      case "--delay": configuration.delay = try Self.duration(flag, try value())
      case "--faults":
        let path = try value()
        do {
          let file = try JSONDecoder().decode(FaultFile.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
          configuration.faults = file.faults
          configuration.seed = file.seed ?? configuration.seed
        } catch {
          throw UsageError("--faults \(path): \(error)")
        }
      default: throw UsageError("unknown flag \(flag)")
      }
    }
    if !projects.isEmpty { configuration.projects = projects }
  }

  private static func address(_ flag: String, _ text: String) throws -> FCMEmulatorAddress {
    guard let address = FCMEmulatorAddress(text) else {
      throw UsageError("\(flag) \(text): an address and a port are needed, such as 127.0.0.1:8443")
    }
    return address
  }

  private static func duration(_ flag: String, _ text: String) throws -> Duration {
    let units: [(String, Double)] = [("ms", 1), ("s", 1_000), ("", 1)]
    for (unit, factor) in units where text.hasSuffix(unit) {
      if let number = Double(text.dropLast(unit.count)), number >= 0, number < 86_400_000 {
        return .milliseconds(number * factor)
      }
    }
    throw UsageError("\(flag) \(text): a duration is needed, such as 50ms or 1.5s")
  }
}

/// A flag that cannot be used, and why.
struct UsageError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
