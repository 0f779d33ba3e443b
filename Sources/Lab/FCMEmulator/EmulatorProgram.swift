import Foundation
public import ServiceKit

/// The program `fcm-emulator`.
public enum EmulatorProgram {
  /// Serves until SIGTERM or SIGINT. Prints a `ReadyLine` once it serves, and its counters as JSON when it stops.
  public static let program = ServiceProgram(
    EmulatorSettings.schema, check: { _ = try EmulatorSettings.configuration($0) },
    run: { try run(EmulatorSettings.configuration($0)) })

  private static func run(_ configuration: FCMEmulatorConfiguration) throws -> Int32 {
    // Threads inherit the mask. It is set before the emulator starts any, so only `sigwait` takes these signals.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGTERM)
    sigaddset(&signals, SIGINT)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    let emulator = try FCMEmulator(configuration)
    emulator.start()
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
    let ready = ReadyLine(
      url: emulator.url, plainUrl: emulator.plainURL, serviceAccount: emulator.serviceAccountFile,
      caFile: emulator.caFile, adminUrl: emulator.adminURL,
      appKeys: emulator.appKeysFile.map { AppKeys(file: $0) })
    write(String(decoding: try encoder.encode(ready), as: UTF8.self))
    var signal: Int32 = 0
    sigwait(&signals, &signal)
    emulator.stop()
    write(emulator.counters.json)
    return ExitCode.success
  }

  /// Writes a line to standard output without buffering, because the parent process waits for it.
  private static func write(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

  /// One line of JSON with the addresses and files that a client needs.
  private struct ReadyLine: Encodable {
    var ready = true
    let url: String
    let plainUrl: String?
    let serviceAccount: String
    let caFile: String
    let adminUrl: String?
    let appKeys: AppKeys?
  }

  /// The values of `nudge-ingest`'s `--jwt-keys-file`, `--jwt-issuer` and `--jwt-audience` for the tokens of the emulated apps.
  private struct AppKeys: Encodable {
    let file: String
    var issuer = FCMEmulator.appIssuer
    var audience = FCMEmulator.appAudience
  }
}

/// The program's flags. Each has a variable that begins with `FCM_EMULATOR_`, so that the services' variables do not affect the emulator.
enum EmulatorSettings {
  static let listen = Setting<FCMEmulatorAddress>(
    "listen", environment: "FCM_EMULATOR_LISTEN", default: FCMEmulatorAddress(),
    help: "Address of HTTP/2 with TLS; with port 0 the system chooses the port.")

  static let plainListen = Setting<FCMEmulatorAddress?>(
    "plain-listen", environment: "FCM_EMULATOR_PLAIN_LISTEN", default: FCMEmulatorAddress(),
    help: "Address of HTTP/2 without TLS, with prior knowledge.")

  static let directory = Setting<String?>(
    "directory", environment: "FCM_EMULATOR_DIRECTORY", default: nil, placeholder: "DIR",
    help: "Folder for ca.pem and service-account.json. Default: a temporary folder.")

  static let projects = Setting<EmulatorNames>(
    "project", environment: "FCM_EMULATOR_PROJECT", default: EmulatorNames(),
    help: "A known project, in place of nudge-demo; the first is the service account's.")

  static let record = Setting<String?>(
    "record", environment: "FCM_EMULATOR_RECORD", default: nil, placeholder: "FILE",
    help: "Append every request as a line of JSON, with access tokens masked.")

  static let faults = Setting<String?>(
    "faults", environment: "FCM_EMULATOR_FAULTS", default: nil, placeholder: "FILE",
    help: "Inject the faults of this file, see above.")

  static let adminAddress = Setting<FCMEmulatorAddress?>(
    "admin-address", environment: "FCM_EMULATOR_ADMIN_ADDRESS", default: nil,
    help: "Serve a live page with each device's lock screen and badge, and the endpoints above over HTTP/1.1.")

  static let decisions = Setting<String?>(
    "decisions", environment: "FCM_EMULATOR_DECISIONS", default: nil, placeholder: "FILE",
    help: "Records of nudge.decisions, one a line, by which the page explains a push.")

  static let apps = Setting<String?>(
    "apps", environment: "FCM_EMULATOR_APPS", default: nil, placeholder: "FILE",
    help:
      "Let the page open apps, which use the HTTP API that this file names, on this machine: see above. The page must be on 127.0.0.1."
  )

  static let delay = Setting<Duration>(
    "delay", environment: "FCM_EMULATOR_DELAY", default: .zero, in: .zero...Duration.seconds(86_400),
    help: "Delay answers to messages.")

  static let streamLimit = Setting<Int>(
    "stream-limit", environment: "FCM_EMULATOR_STREAM_LIMIT", default: 100, in: 1...10_000,
    help: "Open streams a connection.")

  static let countTokens = Setting<Bool>(
    "count-tokens", environment: "FCM_EMULATOR_COUNT_TOKENS", default: false, help: "Count messages by device token.")

  static let acceptAnyToken = Setting<Bool>(
    "accept-any-token", environment: "FCM_EMULATOR_ACCEPT_ANY_TOKEN", default: false,
    help: "Accept any bearer token, for benchmarks.")

  static let vapidKeys = Setting<EmulatorNames>(
    "vapid-key", environment: "FCM_EMULATOR_VAPID_KEY", default: EmulatorNames(), placeholder: "KEY",
    help: "The public key that subscriptions were made with. Default: any key.")

  static let schema = SettingsSchema(
    program: "fcm-emulator",
    abstract:
      "Emulates Firebase Cloud Messaging (HTTP v1), Google's OAuth server, and a push service of Web Push with its browsers.",
    discussion: discussion, version: NudgeVersion.current,
    settings: [
      listen, plainListen, directory, projects, record, faults, adminAddress, decisions, apps, delay, streamLimit,
      countTokens, acceptAnyToken, vapidKeys,
    ],
    examples: [
      "fcm-emulator --directory /tmp/fcm --record /tmp/fcm/requests.jsonl",
      "fcm-emulator --listen 127.0.0.1:8443 --delay 50ms --faults faults.json",
      "fcm-emulator --admin-address 127.0.0.1:8080 --decisions decisions.jsonl",
      "fcm-emulator --admin-address 127.0.0.1:8080 --directory /tmp/fcm --apps apps.json",
      "curl --http2 --cacert /tmp/fcm/ca.pem https://127.0.0.1:8443/emulator/stats",
      #"curl http://127.0.0.1:8080/emulator/faults -d '{"faults": [{"ratio": 0.2, "answer": "UNAVAILABLE"}]}'"#,
    ])

  private static let discussion = """
    Once ready it prints one line of JSON: {"ready":true,"url":…,"plainUrl":…,"serviceAccount":…,"caFile":…}, with "adminUrl" if it serves the page, and "appKeys" with --apps. SIGTERM or SIGINT ends it, and it prints its totals in one line.

    Endpoints:
    GET /emulator/stats: the totals so far
    GET /emulator/tokens: messages by device token and status
    POST /emulator/faults: replace the faults by those in the body
    POST /emulator/uninstalled {"tokens": […]}: answer UNREGISTERED for these, and 410 for endpoints, as if their apps were removed
    POST /emulator/subscriptions {"names": […]}: subscriptions of browsers with these names, as apps register them
    POST /wpush/ID: a push to a browser's subscription
    GET /deliveries?after=NUMBER&tokens=PREFIX: messages to devices, once there are any (at the admin address only)

    With --apps FILE the page can open the app of a phone. FILE is {"api": "http://127.0.0.1:8081", "devices": {TOKEN: DEVICE-ID}} and may be written later; without "devices" GET /v1/me says which device of the platform it is. The emulator signs users' tokens with a key of its own, which it makes at its start and never writes. Give nudge-ingest the public half that it writes to DIR/app-keys.pem: --jwt-keys-file DIR/app-keys.pem --jwt-issuer fcm-emulator --jwt-audience phones --http-cors-origins ORIGIN-OF-THE-PAGE. For trying things out alone.

    A file of faults is {"seed": 7, "faults": […]}; the first match with an action applies:
    {"tokenPrefix": "gone-", "answer": "UNREGISTERED"}
    {"ratio": 0.2, "answer": "UNAVAILABLE", "retryAfter": "5", "times": 1000}
    {"tokenPrefix": "slow-", "delayMs": 400}
    {"tokenPrefix": "cut-", "action": "reset"}
    {"tokenPrefix": "odd-", "status": 418, "body": "short and stout"}
    {"ratio": 0.05, "action": "lose"}
    {"endpoint": "push", "tokenPrefix": "web-", "status": 429, "retryAfter": "5"}
    {"endpoint": "token", "skip": 1, "status": 503}
    answer: \(EmulatorAnswer.Name.allCases.map(\.rawValue).joined(separator: ", "))
    action: reset, resetStream, hang, hangAfterHeaders, brokenBody, goAway, lose (the good answer, and no device gets the message)
    """

  /// The configuration that these values describe.
  /// - Throws: `SettingsError` if the file of faults cannot be used.
  static func configuration(_ values: SettingsValues) throws(SettingsError) -> FCMEmulatorConfiguration {
    var configuration = FCMEmulatorConfiguration(
      listen: values[listen], plainListen: values[plainListen], directory: values[directory],
      recordFile: values[record], adminAddress: values[adminAddress], decisionFile: values[decisions],
      appsFile: values[apps], delay: values[delay], countsTokens: values[countTokens],
      acceptAnyToken: values[acceptAnyToken],
      vapidKeys: values[vapidKeys].all, maxConcurrentStreams: values[streamLimit])
    if !values[projects].all.isEmpty { configuration.projects = values[projects].all }
    if let objection = configuration.appsObjection { throw SettingsError("--apps: \(objection)") }
    guard let path = values[faults] else { return configuration }
    do {
      let file = try JSONDecoder().decode(FaultFile.self, from: Data(try FileContent.read(path)))
      configuration.faults = file.faults
      configuration.seed = file.seed ?? configuration.seed
    } catch {
      throw SettingsError("--faults \(path): \(error)")
    }
    return configuration
  }
}

/// Names, given by a flag each or separated by commas.
struct EmulatorNames: SettingValue {
  var all: [String] = []

  static func parse(_ text: String) throws(SettingValueError) -> EmulatorNames {
    EmulatorNames(all: try [String].parse(text))
  }
  var settingText: String { all.settingText }
  static let placeholder = "NAME"
  mutating func merge(_ later: EmulatorNames) { all += later.all }
  static let isRepeated = true
}

extension FCMEmulatorAddress: SettingValue {
  /// `HOST:PORT`.
  public static func parse(_ text: String) throws(SettingValueError) -> FCMEmulatorAddress {
    guard let address = FCMEmulatorAddress(text) else {
      throw SettingValueError(allowed: "an address and a port, such as 127.0.0.1:8443")
    }
    return address
  }
  public var settingText: String { "\(host):\(port)" }
  public static var placeholder: String { "HOST:PORT" }
}
