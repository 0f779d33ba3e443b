import NudgeSchema
import StreamRuntime
import Wording

extension RecipientDeviceRow {
  /// Counts a push that is taken for the device. A sign of life, or another registration, begins anew.
  mutating func countUnconfirmed(_ item: WaitingPush, _ rules: DispatcherRules) {
    guard rules.awayAfter > 0, item.target.platform == .android, let seenAt = item.target.seenAt else {
      unconfirmed = nil
      return
    }
    if unconfirmed?.seenAt != seenAt || unconfirmed?.version != item.target.version {
      unconfirmed = Unconfirmed(seenAt: seenAt, version: item.target.version)
    }
    if !item.isBadgeOnly { unconfirmed?.pushes += 1 }
  }
}

extension WaitingPush {
  /// Decides before the first request whether it replaces others. What was decided stays with the push, so that a repeat is the same.
  mutating func collapseIfAway(_ key: DeviceKey, _ step: Step<DispatcherStage>, _ rules: DispatcherRules) throws {
    guard rules.awayAfter > 0, attempts == 0, collapse == nil, target.platform == .android,
      case .device(var device)? = try step.row(key.device)?.content, var unconfirmed = device.unconfirmed
    else { return }
    collapse = unconfirmed.collapse(push, isBadgeOnly: isBadgeOnly, after: rules.awayAfter)
    guard device.unconfirmed != unconfirmed else { return }
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
