import FCMEmulator
import Foundation

struct Options {
  static let help = """
    fcm-emulator: emulates Firebase Cloud Messaging (HTTP v1), Google's OAuth
    server, and a push service of Web Push with its browsers.

    Usage: fcm-emulator [flags]

      --listen HOST:PORT        address of HTTP/2 with TLS (default 127.0.0.1:0:
                                the system chooses the port)
      --plain-listen HOST:PORT  address of HTTP/2 without TLS, with prior
                                knowledge (default 127.0.0.1:0)
      --directory DIR           folder for ca.pem and service-account.json
                                (default: a temporary folder)
      --project NAME            a known project; repeat for several
                                (default nudge-demo)
      --record FILE             append every request as a line of JSON, with
                                access tokens masked
      --faults FILE             inject faults, see below
      --admin-address HOST:PORT serve a live page with each device's lock screen
                                and badge, and the endpoints below over HTTP/1.1
      --decisions FILE          records of nudge.decisions, one a line, by which
                                the page explains a push
      --delay DURATION          delay answers to messages: 50ms, 1.5s (default 0ms)
      --stream-limit N          open streams a connection (default 100)
      --count-tokens            count messages by device token
      --accept-any-token        accept any bearer token, for benchmarks
      --vapid-key KEY           the public key that subscriptions were made with;
                                repeat for several (default: any key)
      --help                    this text

    Once ready it prints one line of JSON: {"ready":true,"url":…,"plainUrl":…,
    "serviceAccount":…,"caFile":…}, with "adminUrl" if it serves the page.
    SIGTERM or SIGINT ends it, and it prints its totals in one line.

    Endpoints:
      GET  /emulator/stats        the totals so far
      GET  /emulator/tokens       messages by device token and status
      POST /emulator/faults       replace the faults by those in the body
      POST /emulator/uninstalled  {"tokens": […]}: answer UNREGISTERED for these,
                                  and 410 for endpoints, as if their apps were
                                  removed
      POST /emulator/subscriptions  {"names": […]}: subscriptions of browsers with
                                  these names, as apps register them
      POST /wpush/ID              a push to a browser's subscription
      GET  /deliveries?after=NUMBER&tokens=PREFIX
                                  messages to devices, once there are any
                                  (at the admin address only)

    Exit status: 0 after SIGTERM or SIGINT, 1 if it cannot start, 2 for a wrong
    flag.

    Examples:
      fcm-emulator --directory /tmp/fcm --record /tmp/fcm/requests.jsonl
      fcm-emulator --listen 127.0.0.1:8443 --delay 50ms --faults faults.json
      fcm-emulator --admin-address 127.0.0.1:8080 --decisions decisions.jsonl
      curl --http2 --cacert /tmp/fcm/ca.pem https://127.0.0.1:8443/emulator/stats
      curl http://127.0.0.1:8080/emulator/faults -d '{"faults": [{"ratio": 0.2, "answer": "UNAVAILABLE"}]}'

    A file of faults; the first match with an action applies:
      {"seed": 7, "faults": [
        {"tokenPrefix": "gone-", "answer": "UNREGISTERED"},
        {"ratio": 0.2, "answer": "UNAVAILABLE", "retryAfter": "5", "times": 1000},
        {"tokenPrefix": "slow-", "delayMs": 400},
        {"tokenPrefix": "cut-", "action": "reset"},
        {"tokenPrefix": "odd-", "status": 418, "body": "short and stout"},
        {"ratio": 0.05, "action": "lose"},
        {"endpoint": "push", "tokenPrefix": "web-", "status": 429, "retryAfter": "5"},
        {"endpoint": "token", "skip": 1, "status": 503}]}
      answer: \(EmulatorAnswer.Name.allCases.map(\.rawValue).joined(separator: ", "))
      action: reset, resetStream, hang, hangAfterHeaders, brokenBody, goAway,
              lose (the good answer, and no device gets the message)

    """

  var configuration = FCMEmulatorConfiguration()
  var wantsHelp = false

  /// Parses the arguments after the program's name.
  init(_ arguments: [String]) throws {
    var projects: [String] = []
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      // "--flag=value" means "--flag value".
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
      case "--vapid-key": configuration.vapidKeys.append(try value())
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

/// A wrong flag, with the reason.
struct UsageError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
