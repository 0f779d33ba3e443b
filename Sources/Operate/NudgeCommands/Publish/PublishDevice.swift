import NudgeSchema
import ServiceKit

enum PublishDevice {
  private static let user = PublishCommand.required("user", "USER", "Whose device it is.")
  private static let device = Setting<String>(
    "device", environment: .none, default: "phone", placeholder: "ID", help: "The device's id, unique for the person.")
  private static let token = Setting<String?>(
    "token", environment: "NUDGE_DEVICE_TOKEN", default: nil, placeholder: "TOKEN",
    help: "The app's FCM registration token.", secret: true)
  private static let platform = Setting<DevicePlatform>(
    "platform", environment: .none, default: .ios, help: "The device's platform.")
  private static let appVersion = PublishCommand.optional("app-version", "VERSION", "The app's version.")
  private static let locale = PublishCommand.optional("locale", "TAG", "Its language, such as de-CH.")
  private static let project = PublishCommand.optional(
    "project", "ID", "The FCM project the token belongs to. Default: the dispatcher's own.")
  private static let unregister = Setting<Bool>(
    "unregister", environment: .none, default: false, help: "Sign the person out: the device gets no further pushes.")

  enum DevicePlatform: String, SettingValue, CaseIterable {
    case ios, android, web
  }

  static let command = Command(
    "device", abstract: "Registers a person's device, or signs them out on it.",
    settings: [user, device, token, platform, appVersion, locale, project, unregister] + PublishCommand.common,
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
    guard let token = input[token], let platform = Platform(rawValue: input[platform].rawValue) else {
      throw SettingsError("a device needs --token (NUDGE_DEVICE_TOKEN), or --unregister")
    }
    return .deviceRegistered(
      DeviceRegistered(
        userId: input[user], deviceId: input[device], token: token, platform: platform, appVersion: input[appVersion],
        locale: input[locale], projectId: input[project]))
  }
}
