package import NudgeSchema

/// The webhook has a lane for each person, as a device has: its requests are in order, wait for their next attempt in the state, and end
/// with an outcome (decision 93).
extension PushTarget {
  /// No id of a record has a control character, so no device's project is this one. Rows of pushes that wait have it.
  static let webhookProject = "\u{1}webhook"

  /// The device of an escalation's outcome.
  package static let webhookDevice = "webhook"

  /// The target of an escalation.
  static let webhook = PushTarget(
    deviceId: webhookDevice, token: "", version: 0, platform: .web, projectId: webhookProject)
}

extension Push {
  /// The devices it goes to, or the webhook.
  var recipients: [PushTarget] { kind == .escalation ? [.webhook] : targets }
}

extension WaitingPush {
  /// It goes to the webhook, and to no device.
  var isEscalation: Bool { push.kind == .escalation }
}

extension DispatcherRules {
  /// The error code of an escalation where no webhook is configured.
  static let noWebhook = "no_webhook"

  /// The error code of a push whose ids alone are longer than its service takes.
  static let payloadTooLarge = "payload_too_large"

  /// The error code of a push to a subscription where no VAPID key is configured.
  static let noVAPIDKey = "no_vapid_key"

  /// The error code of a push to an endpoint that cannot be read, or that the operator's rules do not allow.
  static let endpointNotAllowed = "endpoint_not_allowed"

  /// The error code of a push that shows nothing, to a browser whose app is not in the foreground.
  static let webInBackground = "web_in_background"
}
