import NudgeSchema
import ServiceKit

enum PublishDevice {
  private static let user = PublishCommand.required("user", "USER", "Whose device it is.")
  private static let device = Setting<String>(
    "device", environment: .none, default: "phone", placeholder: "ID", help: "The device's id, unique for the person.")
  private static let token = Setting<String?>(
    "token", environment: "NUDGE_DEVICE_TOKEN", default: nil, placeholder: "TOKEN",
    help: "The app's FCM registration token.", secret: true)
  private static let webPush = Setting<String?>(
    "web-push", environment: "NUDGE_DEVICE_WEB_PUSH", default: nil, placeholder: "JSON",
    help:
      "In place of a token: the subscription as the browser's PushSubscription.toJSON() gives it. Better in the environment, as "
      + "whoever knows it can push.", secret: true)
  private static let sealing = Setting<String?>(
    "sealing", environment: "NUDGE_DEVICE_SEALING", default: nil, placeholder: "JSON",
    help: "Keys beside a token, p256dh and auth: what the app shows goes sealed.", secret: true)
  private static let platform = Setting<DevicePlatform>(
    "platform", environment: .none, default: .ios, help: "The device's platform.")
  private static let appVersion = PublishCommand.optional("app-version", "VERSION", "The app's version.")
  private static let locale = PublishCommand.optional("locale", "TAG", "Its language, such as de-CH.")
  private static let project = PublishCommand.optional(
    "project", "ID", "The FCM project the token belongs to. Default: the dispatcher's own.")
  private static let unregister = Setting<Bool>(
    "unregister", environment: .none, default: false, help: "Sign the person out: the device gets no further pushes.")

  enum DevicePlatform: String, SettingValue, CaseIterable {
    case ios, android, web, desktop
  }

  static let command = Command(
    "device", abstract: "Registers a person's device, or signs them out on it.",
    settings: [user, device, token, webPush, sealing, platform, appVersion, locale, project, unregister]
      + PublishCommand.common,
    examples: [
      "nudge publish device --user bob --token token-of-bob --wait --bootstrap-servers kafka:9092",
      "nudge publish device --user bob --device tablet --unregister --bootstrap-servers kafka:9092",
    ]
  ) { input in
    try PublishCommand.publish(UserEvent(PublishCommand.envelope(input, "publish"), try body(input)), input)
  }

  static func body(_ input: CommandInput) throws(SettingsError) -> UserEventBody {
    if input[unregister] {
      return .deviceUnregistered(DeviceUnregistered(userId: input[user], deviceId: input[device]))
    }
    guard input[token] != nil || input[webPush] != nil,
      let platform = Platform(rawValue: input[platform].rawValue)
    else {
      throw SettingsError(
        "a device needs --token (NUDGE_DEVICE_TOKEN) or --web-push (NUDGE_DEVICE_WEB_PUSH), or --unregister")
    }
    let subscription = try input[webPush].map { (json) throws(SettingsError) in try GivenKeys(json, "web-push") }
    guard subscription == nil || subscription?.endpoint != nil else {
      throw SettingsError("--web-push has no endpoint")
    }
    return .deviceRegistered(
      DeviceRegistered(
        userId: input[user], deviceId: input[device], token: input[token],
        webPush: subscription.map {
          WebPushSubscription(endpoint: $0.endpoint ?? "", p256dh: $0.p256dh, auth: $0.auth)
        },
        sealing: try input[sealing].map { (json) throws(SettingsError) in
          let keys = try GivenKeys(json, "sealing")
          return SealingKeys(p256dh: keys.p256dh, auth: keys.auth)
        }, platform: platform, appVersion: input[appVersion], locale: input[locale], projectId: input[project]))
  }

  /// A subscription or keys, with `p256dh` and `auth` in `keys` as browsers write them, or beside the endpoint as events have them.
  private struct GivenKeys {
    let endpoint: String?
    let p256dh: String
    let auth: String

    init(_ json: String, _ flag: String) throws(SettingsError) {
      guard let given = try? JSONValue(Array(json.utf8)) else { throw SettingsError("--\(flag) is not JSON") }
      let keys = given["keys"] ?? given
      guard let p256dh = keys["p256dh"]?.string, let auth = keys["auth"]?.string else {
        throw SettingsError("--\(flag) has no p256dh and auth")
      }
      endpoint = given["endpoint"]?.string
      self.p256dh = p256dh
      self.auth = auth
    }
  }
}
