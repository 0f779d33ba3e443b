import NudgeSchema
import ServiceKit
import StreamRuntime

/// Sends a push to its destination.
struct PushSender: EffectPerformer {
  let fcm: FCMClient
  /// nil: there is no VAPID key, and the stage sends nothing to subscriptions.
  var webPush: WebPushClient?
  /// nil: there is no webhook, and the stage sends nothing to it.
  let webhook: WebhookClient?

  func perform(_ effect: SendRequest, reply: @escaping @Sendable (SendReply) -> Void) {
    switch effect.destination {
    case .fcm: return fcm.perform(effect, reply: reply)
    case .webPush: if let webPush { return webPush.perform(effect, reply: reply) }
    case .webhook: if let webhook { return webhook.perform(effect, reply: reply) }
    }
    let now = SystemClock.milliseconds()
    reply(SendReply(id: effect.id, answer: PushAnswer(.notSent), requests: 0, startedAt: now, finishedAt: now))
  }

  func stop() {
    fcm.stop()
    webPush?.stop()
    webhook?.stop()
  }
}
