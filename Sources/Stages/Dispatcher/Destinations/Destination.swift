import NudgeSchema
import WebPush

/// A service that takes pushes, and the account there. Lanes, quotas, retries, the last look, breakers and outcomes ask nothing else of a
/// push's way; what differs between services is here, in the messages of this folder and in the client that sends.
public enum Destination: Hashable, Sendable {
  /// FCM, by a project; nil: the dispatcher's own.
  case fcm(project: String?)
  /// A Web Push service, by `WebPushServices.service(of:)`.
  case webPush(service: String)
  /// The webhook for escalations.
  case webhook

  /// Where a push goes.
  init(of item: WaitingPush, _ rules: DispatcherRules) {
    if item.isEscalation {
      self = .webhook
    } else if let subscription = item.target.webPush {
      self = .webPush(service: rules.webPush?.services.service(of: subscription.endpoint) ?? "")
    } else {
      self = .fcm(project: item.target.projectId)
    }
  }

  /// FCM has limits of its own for a device.
  var isFCM: Bool { if case .fcm = self { true } else { false } }

  /// Stands for it among the effects of a stream thread. No id of a record has a control character, so that no project is the webhook's, nor
  /// a push service.
  var group: String {
    switch self {
    case .fcm(let project): project ?? ""
    case .webPush(let service): "\u{1}web_push \(service)"
    case .webhook: "\u{1}webhook"
    }
  }

  /// The body of a request for a push; nil: it can never be sent.
  func body(for item: WaitingPush, _ rules: DispatcherRules) -> [UInt8]? {
    switch self {
    case .fcm: FCMMessage(item, rules: rules).encoded()
    case .webPush: WebPushMessage(item, rules: rules).encoded()
    case .webhook: WebhookBody(item.push).encoded
    }
  }

  /// How a push ends that may not be sent there; nil: it may.
  func refusal(of item: WaitingPush, _ rules: DispatcherRules) -> LastLook.Ending? {
    switch self {
    case .fcm(let project):
      if let ending = Self.refusalByBrowser(of: item) { return ending }
      return rules.allows(project: project)
        ? nil : LastLook.Ending(result: .rejected, errorCode: DispatcherRules.projectNotAllowed)
    case .webPush:
      if let ending = Self.refusalByBrowser(of: item) { return ending }
      guard let webPush = rules.webPush else {
        return LastLook.Ending(result: .cancelled, errorCode: DispatcherRules.noVAPIDKey)
      }
      do {
        if let subscription = item.target.webPush { _ = try webPush.endpoints.endpoint(subscription.endpoint) }
        return nil
      } catch {
        return LastLook.Ending(result: .rejected, errorCode: DispatcherRules.endpointNotAllowed)
      }
    case .webhook:
      return rules.hasWebhook ? nil : LastLook.Ending(result: .cancelled, errorCode: DispatcherRules.noWebhook)
    }
  }

  /// A browser says by itself that the app was updated in the background, and withdraws the permission after some of these.
  private static func refusalByBrowser(of item: WaitingPush) -> LastLook.Ending? {
    guard item.target.platform == .web, item.isQuiet, item.target.foreground != true else { return nil }
    return LastLook.Ending(result: .cancelled, errorCode: DispatcherRules.webInBackground)
  }
}

extension OutcomeDestination {
  /// The service of a push, as outcomes name it; nil: FCM.
  init?(of item: WaitingPush) {
    if item.isEscalation {
      self = .webhook
    } else if item.target.webPush != nil {
      self = .webPush
    } else {
      return nil
    }
  }
}

/// The webhook has a lane for each person, as a device has: its requests are in order, wait for their next attempt in the state, and end
/// with an outcome (decision 93).
extension PushTarget {
  /// The device of an escalation's outcome.
  package static let webhookDevice = "webhook"

  /// The lane of an escalation. 0.3.0 and earlier know the webhook by this project: a row that they read after a rollback must have it.
  static let webhook = PushTarget(
    deviceId: webhookDevice, token: "", version: 0, platform: .web, projectId: "\u{1}webhook")
}
