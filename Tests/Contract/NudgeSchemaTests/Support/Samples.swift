import NudgeSchema

/// Values of every record with all of their optional fields set.
enum Sample {
  static let takenAt: Milliseconds = 1_795_275_600_000
  static let envelope = Envelope(eventId: "evt-7f3a", occurredAt: 1_795_275_600_250)
  static let origin = Origin(topic: "chat.events", partition: 3, offset: 1042, index: 2, generation: 7)
  static let source = RecordPosition(topic: "chat.events", partition: 3, offset: 1042)
  static let avatar = "https://cdn.example.com/a/ada.png"
  static let token = "dQw4w9WgXcQ:APA91b-sample"
  // The keys of RFC 8291, section 5.
  static let p256dh = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
  static let secret = "BTBZMqHH6r4Tts7J_aSIgg"
  static let sealing = SealingKeys(p256dh: p256dh, auth: secret)
  static let subscription = WebPushSubscription(
    endpoint: "https://updates.push.example/wpush/v2/gAAAAABk", p256dh: p256dh, auth: secret)

  static let member = Member(userId: "ada", displayName: "Ada Lovelace", avatarUrl: avatar)
  static let snapshot = ConversationSnapshot(
    kind: .group, name: "Engines", members: [member, Member(userId: "ben", displayName: "Ben")])
  static let quietHours = QuietHours(start: "22:00", end: "07:30", timeZone: "Europe/Berlin")
  static let patch = PreferencesPatch(
    enabled: true, quietHours: .set(quietHours), maxAnalysesPerHour: 10, fallback: .simpleRules,
    muted: [MutedConversation(conversationId: "c-noise", until: 1_795_362_000_000, exceptMentions: true)],
    starredSenders: ["ada"], keywords: ["release"], badgeMode: .messages, showPreviews: false, locale: "de-CH",
    learnSince: 1_795_000_000_000, burstSeconds: 90, defaultLevels: DefaultLevels(direct: .all, group: .mentions),
    conversationLevels: [ConversationLevel(conversationId: "c-engines", level: .none)], mutedSenders: ["babbage"],
    digestTimes: .set(["12:30", "18:00"]), timeZone: "Europe/Berlin", dailyAlerts: .set(10))

  static let conversationUpdated = ConversationUpdated(
    conversationId: "c-engines", kind: .group, name: "Engines", members: snapshot.members)
  static let membership = MembershipChange(
    conversationId: "c-engines", userId: "ada", displayName: "Ada Lovelace", avatarUrl: avatar)
  static let message = MessageCreated(
    conversationId: "c-engines", messageId: "m-1", senderId: "ada", text: "Ben, can you review it?",
    attachments: [Attachment(kind: .image, url: "https://cdn.example.com/i/1.jpg")], replyTo: "m-0", mentions: ["ben"],
    sender: SenderProfile(displayName: "Ada Lovelace", avatarUrl: avatar), conversation: snapshot)
  static let revision = MessageRevision(conversationId: "c-engines", messageId: "m-1", text: "Ben, can you merge it?")

  static let activity = Activity(
    userId: "ben", deviceId: "ben-phone", state: .foreground, conversationId: "c-engines",
    lastInputAt: 1_795_275_590_000, tabId: "tab-1", live: true)
  static let read = MessageRead(
    userId: "ben", conversationId: "c-engines", messageId: "m-1", deviceId: "ben-phone")
  static let registration = DeviceRegistered(
    userId: "ben", deviceId: "ben-phone", token: token, sealing: sealing, platform: .ios, appVersion: "4.2.0",
    locale: "de-CH",
    projectId: "chat-prod", renders: true)
  static let subscribed = DeviceRegistered(
    userId: "ben", deviceId: "ben-laptop", webPush: subscription, platform: .web, appVersion: "4.2.0", locale: "de-CH",
    projectId: "chat-prod", renders: true)
  static let feedback = FeedbackSubmitted(
    userId: "ben", conversationId: "c-engines", messageId: "m-1", feedback: .helpful)
  static let report = NotificationReport(
    userId: "ben", deviceId: "ben-phone", pushId: "p-1", conversationId: "c-engines", messageId: "m-1",
    sentAt: 1_795_275_600_000, banner: true)

  static let candidate = MessageCandidate(
    conversationId: "c-engines", messageId: "m-1", sender: member,
    conversation: CandidateConversation(
      kind: .group, name: "Engines", others: [Member(userId: "cem", displayName: "Cem", avatarUrl: avatar)],
      memberCount: 2, activeSpeakers: 2, features: "AQEI"),
    title: "Ada Lovelace in Engines", body: "Ben, can you review it?",
    attachment: Attachment(kind: .image, url: "https://cdn.example.com/i/1.jpg"), mentions: ["ben"], replyTo: "m-0",
    answers: AnsweredMessage(messagesBack: 700, sentAt: 1_763_700_000_000), urgent: false,
    recipients: [
      Recipient(
        userId: "ben",
        context: RecipientContext(
          mentioned: true, named: true, answered: true, lastSpokeAt: 1_795_275_500_000, messagesSince: 3, exchange: 2,
          features: "BAAD"))
    ], possibleRepeat: true, byUser: true, replayId: "replay-1", forced: true,
    failedPushes: [FailedPush(userId: "ben", pushId: "p-1", devices: ["ben-tablet"], presentation: .alert)],
    maxAgeSeconds: 86_400, rederived: true)

  static let chatEvents: [ChatEvent] = [
    .conversationUpdated(conversationUpdated), .memberAdded(membership), .memberRemoved(membership),
    .messageCreated(message), .messageEdited(revision), .messageDeleted(revision),
    .conversationDeleted(ConversationDeleted(conversationId: "c-engines")),
  ].map { ChatEvent(envelope, $0) }

  static let userEventBodies: [UserEventBody] = [
    .activity(activity), .read(read), .preferences(PreferencesUpdated(userId: "ben", preferences: patch)),
    .deviceRegistered(registration), .deviceRegistered(subscribed),
    .deviceUnregistered(DeviceUnregistered(userId: "ben", deviceId: "ben-phone")),
    .feedback(feedback), .notificationReceived(report), .notificationOpened(report), .notificationDismissed(report),
    .deleted(UserDeleted(userId: "ben")),
  ]
  static let userEvents = userEventBodies.map { UserEvent(envelope, $0) }

  static let deviceClaims: [DeviceClaim] = [
    .registered(TokenClaimed(tokenHash: "9f86d081", device: registration)),
    .registered(TokenClaimed(tokenHash: "9f86d082", device: subscribed)),
    .unregistered(
      TokenReleased(tokenHash: "9f86d081", userId: "ben", deviceId: "ben-phone", cause: .tokenReplaced)),
    .userDeleted(UserDeleted(userId: "ben")), .userRestored(UserDeleted(userId: "ben")),
  ].map { DeviceClaim(envelope, origin: origin, source: source, takenAt: takenAt, arrivedAt: takenAt, $0) }

  static let timelineEvents: [TimelineEvent] =
    (userEventBodies.filter { !$0.type.rawValue.hasPrefix("device.") }.map { TimelineEventBody.user($0) } + [
      .candidate(candidate), .sent(MessageSent(userId: "ada", conversationId: "c-engines", messageId: "m-1")),
      .redecide(candidate), .replayStopped(ReplayStopped(replayId: "replay-1", after: "ben")),
      .timerFired(TimerFired(timer: "window/ben", dueAt: 1_795_279_200_000)),
      .withdrawn(
        MessageWithdrawn(
          userIds: ["ben"], conversationId: "c-engines", messageId: "m-1", cause: .edited,
          body: "Ben, can you merge it?", title: "Ada Lovelace in Engines",
          sender: Member(userId: "ada", displayName: "Ada Lovelace", avatarUrl: avatar))),
      .deviceGained(
        DeviceGained(
          userId: "ben", deviceId: "ben-phone", token: token, sealing: sealing, version: 7, platform: .ios,
          appVersion: "4.2.0",
          locale: "de-CH", projectId: "chat-prod", renders: true)),
      .deviceGained(
        DeviceGained(
          userId: "ben", deviceId: "ben-laptop", webPush: subscription, version: 7, platform: .desktop,
          appVersion: "4.2.0", locale: "de-CH", projectId: "chat-prod", renders: true)),
      .deviceLost(
        DeviceLost(
          userId: "ben", deviceId: "ben-phone", tokenHash: "9f86d081", version: 8, cause: .claimedElsewhere)),
      .deviceInvalidated(
        DeviceInvalidated(
          userId: "ben", deviceId: "ben-phone", tokenHash: "9f86d081", version: 7, code: "UNREGISTERED")),
      .pushMissed(
        PushMissed(
          userId: "ben", pushId: "p-1", device: 0, devices: 2, conversationId: "c-1", messageId: "m-1",
          cause: .laneFull, presentation: .alert, priority: .medium, sentAt: 1_795_275_600_250,
          expiresAt: 1_795_279_200_250, senderName: "Ada", groupName: "Hikers", text: "See you", edited: true,
          senderId: "ada", avatarUrl: "https://chat.example/ada.png")),
      .asked(
        PersonAsked(
          userId: "ben",
          device: PersonAsked.Device(
            deviceId: "ben-phone", stamp: EventStamp(occurredAt: 1_795_275_600_000, eventId: "evt-1"),
            isRegistered: true))),
    ]).map { TimelineEvent(envelope, origin: origin, source: source, takenAt: takenAt, arrivedAt: takenAt, $0) }

  static let decision = Decision(
    envelope, origin: origin, source: source, takenAt: takenAt, arrivedAt: takenAt,
    DecisionBody(
      userId: "ben", messageId: "m-1", conversationId: "c-engines", outcome: .notify, reason: .simpleRules,
      text: "Notified: a message that names you.", presentation: .alert, level: .smart, priority: .high,
      score: 0.93,
      signals: [Signal(name: "mentioned", value: 1, weight: 2.5)],
      checks: [
        Check(check: "quiet_hours", result: .suppress, inputs: ["timeZone": "Europe/Berlin", "at": 7, "long": true]),
        Check(check: "no_device"), Check(check: "already_read", inputs: ["readUpTo": 1_795_275_500_000]),
      ], badge: 2,
      analysis: AnalysisUse(used: 10, limit: 10, windowStartedAt: 1_795_275_000_000, fallback: .simpleRules),
      model: "2026-11-22", rules: "standard", policy: "0123456789ab", pushId: "p-1", mode: .live,
      decidedAt: 1_795_275_600_260, heldUntil: 1_795_275_720_260,
      replayId: "replay-1"))

  static let push = Push(
    pushId: "p-1", kind: .message, userId: "ben",
    targets: [
      PushTarget(
        deviceId: "ben-phone", token: token, sealing: sealing, version: 7, platform: .ios, projectId: "chat-prod",
        seenAt: 1_795_275_600_000, renders: true, foreground: true, notBefore: 1_795_275_602_260)
    ], title: "Ada Lovelace in Engines", body: "Ben, can you review it?",
    imageUrl: "https://cdn.example.com/i/plan.png", avatarUrl: avatar, priority: .high, presentation: .alert,
    replaces: true, mentioned: true, answered: true, urgent: true,
    quietHours: QuietHours(start: "22:00", end: "07:00", timeZone: "Europe/Berlin"), sentAt: 1_795_275_600_000,
    reason: .relevant, badge: 2, conversationId: "c-engines", messageId: "m-1", senderId: "ada",
    conversation: PushConversation(senderName: "Ada Lovelace", kind: .group, name: "Engines"), unread: 3,
    language: "de",
    digest: Digest(
      messages: 14, conversations: 3,
      lines: [
        Digest.Line(conversationId: "c-engines", messageId: "m-1", title: "Ada in Engines", text: "Can you review it?")
      ], parts: [Digest.Part(conversationId: "c-engines", messages: 14, keys: [Digest.key("m-1")])]),
    escalation: Escalation(
      pushedAt: 1_795_275_600_260, pushedAgainAt: 1_795_275_900_260, senderName: "Ada Lovelace", groupName: "Engines"),
    ttlSeconds: 2_419_200, expiresAt: 1_795_279_200_250, decidedAt: 1_795_275_600_260)
  static let webPushTarget = PushTarget(
    deviceId: "ben-laptop", webPush: subscription, version: 7, platform: .web, projectId: "chat-prod",
    seenAt: 1_795_275_600_000, renders: true, foreground: true, notBefore: 1_795_275_602_260)
  static let pushToBrowser: Push = {
    var toBrowser = push
    toBrowser.targets = [webPushTarget]
    return toBrowser
  }()
  static let pushEvents: [PushEvent] = [
    .push(push), .push(pushToBrowser),
    .cancelled(
      PushCancelled(
        userId: "ben", deviceId: "ben-phone", messageId: "m-1", conversationId: "c-engines",
        sentUpTo: 1_795_275_600_250, kind: .message, exceptMentions: true, tokenHash: "9f86d081", version: 7, badge: 1,
        erased: true, replayId: "replay-1", senderId: "ada", conversationKind: .group,
        exceptConversations: [Digest.key("c-engines")], exceptAddressed: true, showPreviews: false,
        quietHours: QuietHours(start: "22:00", end: "07:00", timeZone: "Europe/Berlin"), target: push.targets[0])),
    .answered(
      PushAnswered(
        userId: "ben", deviceId: "ben-phone", pushId: "push-1", attempt: 1, result: .sent, httpStatus: 200,
        errorCode: "UNREGISTERED", fcmName: "projects/p/messages/1", requests: 1, startedAt: 1_795_275_600_300,
        finishedAt: 1_795_275_600_350)),
  ].map { PushEvent(envelope, origin: origin, source: source, takenAt: takenAt, arrivedAt: takenAt, $0) }

  static let bannerEvents: [BannerEvent] = [
    .banner(
      Banner(
        userId: "ben", conversationId: "c-engines", messageId: "m-1", senderId: "ada", senderName: "Ada Lovelace",
        avatarUrl: avatar, preview: "Ben, can you review it?", groupName: "Engines",
        pushId: "p-1")),
    .notice(
      Notice(
        userId: "ben", code: .analysisLimit, limit: 10, fallback: .simpleRules,
        text: "⚠️ Smart notification limit reached (10/hour). Using simple rules.")),
    .badge(BadgeChange(userId: "ben", badge: 2, conversations: [.init(conversationId: "c-engines", unread: 3)])),
    .read(
      ConversationRead(userId: "ben", conversationId: "c-engines", messageId: "m-1", sentAt: 1_795_275_600_250)),
    .updated(
      MessageUpdate(
        userId: "ben", conversationId: "c-engines", messageId: "m-1", preview: "Ben, can you review both?")),
    .withdrawn(MessageRemoval(userId: "ben", conversationId: "c-engines", messageId: "m-1")),
    .answered(PersonAnswered(userId: "ben", questionId: "evt-2", person: #"{"userId":"ben"}"#, isBehind: true)),
  ].map { BannerEvent(envelope, origin: origin, source: source, takenAt: takenAt, arrivedAt: takenAt, $0) }

  static let auditEvents: [AuditEvent] = [
    .started(
      ReplayStarted(
        replayId: "replay-1", mode: .resendMissing, who: "dana@oncall-1", why: "a bad deploy",
        selection: ["reason": "quiet_hours"], counts: ["would_send": 42], resumed: true)),
    .progressed(ReplayProgressed(replayId: "replay-1", candidates: 40, recipients: 42, next: ["0": 1_200])),
    .ended(
      ReplayEnded(replayId: "replay-1", result: .stopped, reason: "errors rose", candidates: 40, recipients: 42)),
    .stopped(ReplayStopRequest(replayId: "replay-1", who: "dana@oncall-1", why: "wrong conversation")),
    .deadLettersHandled(
      DeadLettersHandled(
        replayId: "replay-1", action: .discarded, who: "dana@oncall-1", why: "of a test",
        letters: [.init(partition: 2, offsets: [17, 18])], changed: ["senderId"])),
    .commandExecuted(
      CommandExecuted(
        replayId: "replay-1", command: "erase", who: "dana@oncall-1", why: "asked for by letter",
        details: ["user": "9f86d081"])),
  ].map { AuditEvent(envelope, $0) }

  static let outcome = Outcome(
    envelope, origin: origin, source: source, takenAt: takenAt, arrivedAt: takenAt,
    OutcomeBody(
      pushId: "p-1", userId: "ben", deviceId: "ben-phone", tokenHash: "9f86d081", result: .sent, httpStatus: 200,
      errorCode: "UNAVAILABLE", fcmName: "projects/chat-prod/messages/0:1", destination: .webhook,
      collapseKey: "away-0", catchUp: true,
      attempts: 2,
      firstAttemptAt: 1_795_275_600_261, finishedAt: 1_795_275_601_300))

  static let receipt = Receipt(
    envelope, origin: origin, source: source, takenAt: takenAt, arrivedAt: takenAt,
    ReceiptBody(
      pushId: "p-1", userId: "ben", deviceId: "ben-phone", state: .arrived, platform: .ios, appVersion: "4.2.0",
      sentAt: 1_795_275_600_250))
}
