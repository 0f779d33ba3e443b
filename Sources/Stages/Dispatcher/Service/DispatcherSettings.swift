import Foundation
import HTTPTransport
import ServiceKit
import StreamRuntime

/// What the dispatcher can be told beside what every service is.
enum DispatcherSettings {
  /// FCM, or an emulator.
  static let url = Setting<String>(
    "fcm-url", default: FCMClient.googleURL, placeholder: "URL", help: "Where FCM is, without a path.",
    check: { text in
      do throws(SettingValueError) {
        _ = try URL.parse(text)
        return nil
      } catch {
        return error.allowed
      }
    })

  /// The service accounts.
  static let credentials = Setting<String>(
    required: "fcm-credentials", environment: .named(["NUDGE_FCM_CREDENTIALS", "GOOGLE_APPLICATION_CREDENTIALS"]),
    placeholder: "FILES",
    help:
      "JSON file of the service account that may send. For several projects files, or folders of .json files, separated "
      + "by commas; the first is for devices that name no project.")

  /// Which projects pushes may name.
  static let projects = Setting<[String]>(
    "fcm-projects", default: [], placeholder: "ID,…",
    help: "FCM projects that devices may name beside the service account's own; pushes to others are rejected.")

  /// Whom to trust.
  static let certificateAuthorities = Setting<String?>(
    "fcm-ca-file", default: nil, placeholder: "FILE",
    help: "PEM file of the certificate authorities to trust, for FCM and its token server. Default: the system's.")

  /// Connections.
  static let connections = Setting<Int>(
    "fcm-connections", default: 2, in: 1...64,
    help: "HTTP/2 connections to FCM at a time, with 100 requests on each at a time.")

  /// Requests under way.
  static let inFlight = Setting<Int>(
    "fcm-in-flight", default: 2_000, in: 1...10_000,
    help: "Requests under way for a stream thread at a time, those that wait for a connection included.")

  /// Threads of the transport.
  static let loops = Setting<Int>(
    "fcm-loops", default: 1, in: 1...16,
    help:
      "Threads that carry requests to FCM, which share the connections: more where one core is not enough; one for four "
      + "connections at least."
  )

  /// What one thread carries. With 32, on a busy machine, a sixth of the requests ran into their time-out within libcurl, which lets
  /// them wait for connections that are still being made; with 4 none did (docs/benchmarks.md).
  private static let connectionsPerLoop = 4

  /// Requests a minute (P5).
  static let quota = Setting<Int>(
    "fcm-quota", default: 600_000, in: 60...60_000_000,
    help:
      "Requests a minute to a project: FCM's quota. Each instance uses the part of it that it has of the partitions.")

  /// How the quota is reached after a start.
  static let rampUp = Setting<Duration>(
    "fcm-ramp-up", default: .seconds(60), in: .zero...(.seconds(3_600)),
    help:
      "How long after the start the rate takes to grow to its full height. FCM asks for a minute; 0s for benchmarks.")

  /// How long a push is tried again.
  static let timeBudget = Setting<Duration>(
    "fcm-time-budget", default: .seconds(600), in: .seconds(1)...(.seconds(7 * 86_400)),
    help: "How long a push is tried again where FCM fails it, beside its freshness; pauses are not counted.")

  /// Requests to a device in a minute.
  static let devicePerMinute = Setting<Int>(
    "fcm-device-per-minute", default: 240, in: 0...1_000_000,
    help: "Requests in a minute to one Android device at most, FCM's own limit; 0: no limit.")

  /// Requests to a device in an hour.
  static let devicePerHour = Setting<Int>(
    "fcm-device-per-hour", default: 5_000, in: 0...60_000_000,
    help: "Requests in an hour to one Android device at most, FCM's own limit; 0: no limit.")

  /// Pushes in the lanes.
  static let maxWaiting = Setting<Int>(
    "lane-pushes", default: 200_000, in: 0...100_000_000,
    help: "Pushes that wait in a stream thread's lanes before it stops reading; 0: no limit.")

  /// Bytes in the lanes.
  static let maxWaitingMegabytes = Setting<Int>(
    "lane-megabytes", default: 256, in: 0...1_000_000,
    help: "Megabytes, about, of such pushes before it stops reading; 0: no limit.")

  /// A request's time.
  static let timeout = Setting<Duration>(
    "fcm-timeout", default: .seconds(15), in: .seconds(1)...(.seconds(60)),
    help: "How long a request to FCM may take. FCM's slower answers take more than 10s: giving up earlier sends twice.")

  /// All of them, in the order of the help.
  static let all: [any AnySetting] = [
    url, credentials, projects, certificateAuthorities, connections, loops, inFlight, quota, rampUp, timeout,
    timeBudget,
    devicePerMinute, devicePerHour, maxWaiting, maxWaitingMegabytes,
  ]

  /// What may pass between asking for a request and making it, beside the request's own time-out.
  private static let beforeRequest: Duration = .seconds(10)

  /// The rules that the settings make; `ownProjects` are the service accounts'.
  static func rules(from values: SettingsValues, ownProjects: [String]) -> DispatcherRules {
    var rules = DispatcherRules()
    rules.projects = ownProjects + values[projects]
    // Above the runtime's bound: see there.
    rules.maxInFlight = values[inFlight] + values[inFlight] / 4 + 1
    rules.timeBudget = values[timeBudget].milliseconds
    rules.deviceRequestsPerMinute = values[devicePerMinute]
    rules.deviceRequestsPerHour = values[devicePerHour]
    rules.maxWaiting = values[maxWaiting]
    rules.maxWaitingBytes = values[maxWaitingMegabytes] << 20
    rules.unansweredAfter = (values[timeout] + beforeRequest).milliseconds
    return rules
  }

  /// The bounds of a stream thread.
  static func limits(from values: SettingsValues) -> StreamLimits {
    var limits = StreamLimits()
    limits.maxEffects = values[inFlight]
    return limits
  }

  /// How many threads carry requests: as many as are asked for, and as many as the connections need.
  static func loopCount(from values: SettingsValues) -> Int {
    max(values[loops], (values[connections] + connectionsPerLoop - 1) / connectionsPerLoop)
  }

  /// How to connect.
  static func transport(from values: SettingsValues) -> HTTPClientConfiguration {
    HTTPClientConfiguration(
      caFile: values[certificateAuthorities], maxConnectionsPerHost: values[connections])
  }
}
