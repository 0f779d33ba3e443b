import NudgeSchema

/// A service that takes pushes, and the account there. Lanes, quotas, retries, the last look, breakers and outcomes ask nothing else of a
/// push's way; what differs between services is here, in `DestinationMessage` and in the client that sends.
public enum Destination: Hashable, Sendable {
  /// FCM, by a project; nil: the dispatcher's own.
  case fcm(project: String?)
  /// The webhook for escalations.
  case webhook

  /// Where a push to a target goes.
  init(of target: PushTarget) {
    self = target.projectId == PushTarget.webhookProject ? .webhook : .fcm(project: target.projectId)
  }

  /// Stands for it among the effects of a stream thread. No id of a record has a control character, so that no project is the webhook's.
  var group: String {
    switch self {
    case .fcm(let project): project ?? ""
    case .webhook: PushTarget.webhookProject
    }
  }

  /// Its name in outcomes; nil: FCM.
  var outcomeName: OutcomeDestination? {
    switch self {
    case .fcm: nil
    case .webhook: .webhook
    }
  }

  /// The body of a request for a push; nil: it can never be sent.
  func body(for item: WaitingPush, _ rules: DispatcherRules) -> [UInt8]? {
    switch self {
    case .fcm: FCMMessage(item, rules: rules).encoded()
    case .webhook: WebhookBody(item.push).encoded
    }
  }

  /// How a push ends that may not be sent there; nil: it may.
  func refusal(of item: WaitingPush, _ rules: DispatcherRules) -> LastLook.Ending? {
    switch self {
    case .fcm(let project):
      // A browser says by itself that the app was updated in the background, and withdraws the permission after some of these.
      if item.target.platform == .web, item.isQuiet, item.target.foreground != true {
        return LastLook.Ending(result: .cancelled, errorCode: DispatcherRules.webInBackground)
      }
      return rules.allows(project: project)
        ? nil : LastLook.Ending(result: .rejected, errorCode: DispatcherRules.projectNotAllowed)
    case .webhook:
      return rules.hasWebhook ? nil : LastLook.Ending(result: .cancelled, errorCode: DispatcherRules.noWebhook)
    }
  }
}
