package import NudgeSchema

/// The webhook has a lane for each person, as a device has: its requests are in order, wait for their next attempt in the state, and end
/// with an outcome (decision 93).
extension PushTarget {
  /// No id of a record has a control character, so no device's project is this one: breakers, limits and the stream thread's
  /// requests of FCM's projects are apart from the webhook's.
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

extension DeliveryScope {
  var isWebhook: Bool { projectId == PushTarget.webhookProject }
}

extension WaitingPush {
  /// It goes to the webhook, and to no device.
  var isEscalation: Bool { push.kind == .escalation }

  /// The body of its request; nil: it can never be sent.
  func requestBody(_ rules: DispatcherRules) -> [UInt8]? {
    isEscalation ? WebhookBody(push).encoded : FCMMessage(self, rules: rules).encoded()
  }
}

extension DispatcherRules {
  /// The error code of an escalation where no webhook is configured.
  static let noWebhook = "no_webhook"

  /// The error code of a push that shows nothing, to a browser whose app is not in the foreground.
  static let webInBackground = "web_in_background"

  /// How a push ends that may not be sent to where it goes; nil: it may.
  func refusal(of item: WaitingPush) -> LastLook.Ending? {
    if item.isEscalation {
      return hasWebhook ? nil : LastLook.Ending(result: .cancelled, errorCode: Self.noWebhook)
    }
    // A browser says by itself that the app was updated in the background, and withdraws the permission after some of these.
    if item.target.platform == .web, item.isQuiet, item.target.foreground != true {
      return LastLook.Ending(result: .cancelled, errorCode: Self.webInBackground)
    }
    return allows(project: item.target.projectId)
      ? nil : LastLook.Ending(result: .rejected, errorCode: Self.projectNotAllowed)
  }
}
