import JSONCodec
import NudgeSchema
import WebPush

/// A service that receives pushes, with the account there. Lanes, quotas, retries, the last check, breakers and outcomes know only this
/// about a push's destination. All differences between services are here, in this folder's messages and in the client that sends.
public enum Destination: Hashable, Sendable {
  /// FCM with a project; nil for the dispatcher's own.
  case fcm(project: String?)
  /// A Web Push service, as named by `WebPushServices.service(of:)`.
  case webPush(service: String)
  /// The webhook for escalations.
  case webhook

  /// The destination of a push.
  init(of item: WaitingPush, _ rules: DispatcherRules) {
    if item.isEscalation {
      self = .webhook
    } else if let subscription = item.target.webPush {
      self = .webPush(service: rules.webPush?.services.service(of: subscription.endpoint) ?? "")
    } else {
      self = .fcm(project: item.target.projectId)
    }
  }

  /// Whether it is FCM, which has its own limits for a device.
  var isFCM: Bool { if case .fcm = self { true } else { false } }

  /// The destination's name among the effects of a stream thread. Ids in records have no control characters, so no project can have the
  /// name of the webhook or a push service.
  var group: String {
    switch self {
    case .fcm(let project): project ?? ""
    case .webPush(let service): "\u{1}web_push \(service)"
    case .webhook: "\u{1}webhook"
    }
  }

  /// The body of a request for a push; nil if the push can never be sent.
  func body(for item: WaitingPush, _ rules: DispatcherRules) -> [UInt8]? {
    switch self {
    case .fcm: FCMMessage(item, rules: rules).encoded()
    case .webPush: WebPushMessage(item, rules: rules).encoded()
    case .webhook: WebhookBody(item.push).encoded
    }
  }

  /// The outcome if the destination is not allowed; nil if it is.
  func refusal(of item: WaitingPush, _ rules: DispatcherRules) -> LastCheck.Ending? {
    switch self {
    case .fcm(let project):
      if let ending = Self.refusalByBrowser(of: item) { return ending }
      return rules.allows(project: project)
        ? nil : LastCheck.Ending(result: .rejected, errorCode: DispatcherRules.projectNotAllowed)
    case .webPush:
      if let ending = Self.refusalByBrowser(of: item) { return ending }
      guard let webPush = rules.webPush else {
        return LastCheck.Ending(result: .cancelled, errorCode: DispatcherRules.noVAPIDKey)
      }
      do {
        if let subscription = item.target.webPush { _ = try webPush.endpoints.endpoint(subscription.endpoint) }
        return nil
      } catch {
        return LastCheck.Ending(result: .rejected, errorCode: DispatcherRules.endpointNotAllowed)
      }
    case .webhook:
      return rules.hasWebhook ? nil : LastCheck.Ending(result: .cancelled, errorCode: DispatcherRules.noWebhook)
    }
  }

  /// A browser that receives such a push shows a notification of its own, that the app was updated in the background, and after some of
  /// them revokes the permission.
  private static func refusalByBrowser(of item: WaitingPush) -> LastCheck.Ending? {
    guard item.target.platform == .web, item.isQuiet, item.target.foreground != true else { return nil }
    return LastCheck.Ending(result: .cancelled, errorCode: DispatcherRules.webInBackground)
  }
}

extension OutcomeDestination {
  /// The service of a push in outcomes; nil for FCM.
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

/// The webhook has a lane for each person, like a device: its requests are sent in order, wait in the state for their next attempt, and end
/// with an outcome (decision 93).
extension PushTarget {
  /// The device of an escalation's outcome.
  package static let webhookDevice = "webhook"

  /// The target of an escalation. 0.3.0 and earlier identify the webhook by this project, so a row that they may read after a rollback must
  /// have it.
  static let webhook = PushTarget(
    deviceId: webhookDevice, token: "", version: 0, platform: .web, projectId: "\u{1}webhook")
}

/// The last check of a push before its request, for things that may have changed while it waited.
struct LastCheck {
  /// How a push ends that may not be sent.
  struct Ending {
    var result: OutcomeResult
    /// The error code; nil to keep the push's own.
    var errorCode: String?
  }

  let rules: DispatcherRules
  private var zones = TimeZones()

  init(rules: DispatcherRules) { self.rules = rules }

  /// How the push ends; nil if it may be sent. `now` is on the wall clock.
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
    // Quiet hours apply when the push is sent, not when it was decided (D11).
    if let hours = item.push.quietHours, let span = QuietSpan(hours),
      span.contains(QuietSpan.minuteOfDay(now, in: zones.zone(named: hours.timeZone) ?? TimeZones.utc))
    {
      return Ending(result: .cancelled, errorCode: WaitingPush.inQuietHours)
    }
    // The settings may have changed while the push waited.
    return Destination(of: item, rules).refusal(of: item, rules)
  }
}

/// The body of a request to the webhook, with type, time and data as in the Standard Webhooks specification. It names people, the
/// conversation and the message, but contains no text.
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
