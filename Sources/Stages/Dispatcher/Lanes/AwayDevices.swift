import NudgeSchema
import StreamRuntime
import Wording

extension RecipientDeviceRow {
  /// Takes over the sign of life that a push tells of. A later one, or another registration, begins again at zero.
  mutating func heard(by target: PushTarget, _ rules: DispatcherRules) {
    guard rules.awayAfter > 0, target.platform == .android, target.webPush == nil, let seenAt = target.seenAt else {
      unconfirmed = nil
      return
    }
    if unconfirmed?.seenAt != seenAt || unconfirmed?.version != target.version {
      unconfirmed = Unconfirmed(seenAt: seenAt, version: target.version)
    }
  }
}

extension WaitingPush {
  /// Before the first request: counts it among those that FCM may store, and decides whether it replaces others. The push keeps the
  /// decision, so that a repeat is the same request. Pushes that only wait are not counted: an outage of FCM says nothing of the device.
  mutating func countAsUnconfirmed(_ key: DeviceKey, _ step: Step<DispatcherStage>, _ rules: DispatcherRules) throws {
    // A push of the badge alone replaces the former one anyway.
    guard rules.awayAfter > 0, !isCounted, !isBadgeOnly, !isEscalation,
      case .device(var device)? = try step.row(key.device)?.content, var unconfirmed = device.unconfirmed,
      unconfirmed.version == target.version
    else { return }
    isCounted = true
    collapse = unconfirmed.take(push, after: rules.awayAfter)
    device.unconfirmed = unconfirmed
    try step.set(DispatcherRow(.device(device)), for: key.device)
  }

  /// The push as it is sent: a catch-up where it stands for more messages than its own.
  var sentPush: Push {
    guard let collapse, collapse.kind == .rest, collapse.messages > (push.digest?.messages ?? 1) else { return push }
    var sent = push
    var lines = push.digest?.lines ?? []
    if push.kind == .message, let conversationId = push.conversationId, let messageId = push.messageId {
      lines = [
        Digest.Line(
          conversationId: conversationId, messageId: messageId, title: push.title ?? "",
          text: TextCut.shortened(push.body ?? "", toBytes: Self.lineBytes) ?? "")
      ]
    }
    sent.kind = .digest
    sent.digest = Digest(messages: collapse.messages, conversations: collapse.conversations, lines: lines)
    sent.title = Wording(locale: push.language).catchUp(
      messages: collapse.messages, conversations: collapse.conversations)
    sent.body = lines.isEmpty ? nil : lines.map { "\($0.title): \($0.text)" }.joined(separator: "\n")
    (sent.conversationId, sent.messageId, sent.senderId, sent.conversation) = (nil, nil, nil, nil)
    (sent.imageUrl, sent.avatarUrl) = (nil, nil)
    return sent
  }

  /// The text of a line, in bytes.
  private static let lineBytes = 512
}
