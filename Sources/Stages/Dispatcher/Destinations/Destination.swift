import JSONCodec
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

/// The last look at a push before its request, at what may have changed while it waited.
struct LastLook {
  /// How a push ends that may not be sent.
  struct Ending {
    var result: OutcomeResult
    /// nil: that of the push stands.
    var errorCode: String?
  }

  let rules: DispatcherRules
  private var zones = TimeZones()

  init(rules: DispatcherRules) { self.rules = rules }

  /// nil: the push may be sent. `now`: the wall clock.
  mutating func ending(of item: WaitingPush, _ device: RecipientDeviceRow, now: Milliseconds) -> Ending? {
    if item.withdrawn != nil { return Ending(result: .cancelled) }
    if now > item.push.expiresAt { return Ending(result: item.attempts == 0 ? .expired : .gaveUp) }
    if let quarantine = device.quarantined, quarantine.version == item.target.version,
      quarantine.covers(item.target, hash: rules.hash)
    {
      return Ending(result: .quarantined)
    }
    if let revoked = device.revoked, revoked.covers(item.target, hash: rules.hash) {
      return Ending(result: .cancelled, errorCode: "token_revoked")
    }
    // Quiet hours count when the push is sent, not when it was decided (D11).
    if let hours = item.push.quietHours, let span = QuietSpan(hours),
      span.contains(QuietSpan.minuteOfDay(now, in: zones.zone(named: hours.timeZone) ?? TimeZones.utc))
    {
      return Ending(result: .cancelled, errorCode: WaitingPush.inQuietHours)
    }
    // The settings may have changed while it waited.
    return Destination(of: item, rules).refusal(of: item, rules)
  }
}

/// The body of a request to the webhook: type, time and data, as the Standard Webhooks specification has it. It names people, the
/// conversation and the message, and has nothing of the text.
struct WebhookBody {
  static let type = "message.escalated"

  private let push: Push

  init(_ push: Push) { self.push = push }

  var encoded: [UInt8] {
    var json = JSONWriter(capacity: 512)
    json.beginObject()
    json.field("type", Self.type)
    json.field("timestamp", RFC3339.text(push.decidedAt))
    json.key("data" as StaticString)
    json.beginObject()
    json.field("userId", push.userId)
    json.field("conversationId", ifPresent: push.conversationId)
    json.field("messageId", ifPresent: push.messageId)
    json.field("senderId", ifPresent: push.senderId)
    json.field("senderName", ifPresent: push.escalation?.senderName)
    json.field("groupName", ifPresent: push.escalation?.groupName)
    json.field("mentioned", push.mentioned == true)
    json.field("priority", push.priority.rawValue)
    json.field("reason", ifPresent: push.reason?.rawValue)
    json.field("sentAt", ifPresent: push.sentAt.map(RFC3339.text))
    json.field("pushedAt", ifPresent: (push.escalation?.pushedAt).map(RFC3339.text))
    json.field("pushedAgainAt", ifPresent: (push.escalation?.pushedAgainAt).map(RFC3339.text))
    json.endObject()
    json.endObject()
    return json.bytes
  }
}
