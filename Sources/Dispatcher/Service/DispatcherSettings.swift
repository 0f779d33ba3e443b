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

  /// The service account.
  static let credentials = Setting<String>(
    required: "fcm-credentials", environment: .named(["NUDGE_FCM_CREDENTIALS", "GOOGLE_APPLICATION_CREDENTIALS"]),
    placeholder: "FILE", help: "JSON file of the service account that may send.")

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

  /// Requests a minute (P5).
  static let quota = Setting<Int>(
    "fcm-quota", default: 600_000, in: 60...60_000_000,
    help: "Requests a minute of this instance at most: FCM's quota of a project is shared by all that send.")

  /// A request's time.
  static let timeout = Setting<Duration>(
    "fcm-timeout", default: .seconds(15), in: .seconds(1)...(.seconds(60)),
    help: "How long a request to FCM may take. FCM's slower answers take more than 10s: giving up earlier sends twice.")

  /// All of them, in the order of the help.
  static let all: [any AnySetting] = [
    url, credentials, projects, certificateAuthorities, connections, inFlight, quota, timeout,
  ]

  /// What may pass between asking for a request and making it, beside the request's own time-out.
  private static let beforeRequest: Duration = .seconds(10)

  /// The rules that the settings make; `ownProject` is the service account's.
  static func rules(from values: SettingsValues, ownProject: String) -> DispatcherRules {
    var rules = DispatcherRules()
    rules.projects = [ownProject] + values[projects]
    // Above the runtime's bound: see there.
    rules.maxInFlight = values[inFlight] + values[inFlight] / 4 + 1
    rules.unansweredAfter = (values[timeout] + beforeRequest).milliseconds
    return rules
  }

  /// The bounds of a stream thread.
  static func limits(from values: SettingsValues) -> StreamLimits {
    var limits = StreamLimits()
    limits.maxEffects = values[inFlight]
    return limits
  }

  /// How to connect.
  static func transport(from values: SettingsValues) -> HTTPClientConfiguration {
    HTTPClientConfiguration(
      caFile: values[certificateAuthorities], maxConnectionsPerHost: values[connections])
  }
}
