import NudgeSchema
import TestSupport

/// Values of all records that the codec knows.
typealias RecordGenerator = FieldGenerator

extension FieldGenerator {
  // MARK: Parts

  mutating func envelope() -> Envelope { Envelope(eventId: text(), occurredAt: integer()) }

  mutating func origin() -> Origin {
    Origin(
      topic: text(), partition: int32(), offset: integer(), index: maybe { $0.int32() },
      generation: maybe { max(1, $0.int32() & .max) })
  }

  mutating func source() -> RecordPosition { RecordPosition(topic: text(), partition: int32(), offset: integer()) }

  mutating func member() -> Member { Member(userId: text(), displayName: text(), avatarUrl: maybe { $0.text() }) }

  mutating func attachment() -> Attachment { Attachment(kind: choice(), url: maybe { $0.text() }) }

  mutating func snapshot() -> ConversationSnapshot {
    ConversationSnapshot(kind: choice(), name: maybe { $0.text() }, members: list { $0.member() })
  }

  mutating func derived<Body>(_ body: Body) -> DerivedEvent<Body> {
    DerivedEvent(
      envelope(), origin: origin(), source: source(), takenAt: maybe { $0.integer() },
      arrivedAt: maybe { $0.integer() }, body)
  }

  // MARK: Records, a case a number

  static let chatEvents = ChatEventBody.types.count

  mutating func chatEvent(_ number: Int) -> ChatEvent {
    let body: ChatEventBody =
      switch number % Self.chatEvents {
      case 0:
        .conversationUpdated(
          ConversationUpdated(
            conversationId: text(), kind: choice(), name: maybe { $0.text() }, members: list { $0.member() }))
      case 1: .memberAdded(membership())
      case 2: .memberRemoved(membership())
      case 3:
        .messageCreated(
          MessageCreated(
            conversationId: text(), messageId: text(), senderId: text(), text: maybe { $0.text() },
            attachments: maybe { $0.list { $0.attachment() } }, replyTo: maybe { $0.text() },
            mentions: maybe { $0.list { $0.text() } },
            sender: maybe { SenderProfile(displayName: $0.text(), avatarUrl: $0.maybe { $0.text() }) },
            conversation: maybe { $0.snapshot() }))
      case 4: .messageEdited(revision())
      case 5: .messageDeleted(revision())
      default: .conversationDeleted(ConversationDeleted(conversationId: text()))
      }
    return ChatEvent(envelope(), body)
  }

  private mutating func membership() -> MembershipChange {
    MembershipChange(
      conversationId: text(), userId: text(), displayName: maybe { $0.text() }, avatarUrl: maybe { $0.text() })
  }

  private mutating func revision() -> MessageRevision {
    MessageRevision(conversationId: text(), messageId: text(), text: maybe { $0.text() })
  }

  static let userEvents = UserEventBody.types.count

  mutating func userEvent(_ number: Int) -> UserEvent { UserEvent(envelope(), userEventBody(number)) }

  mutating func userEventBody(_ number: Int) -> UserEventBody {
    switch number % Self.userEvents {
    case 0:
      .activity(
        Activity(
          userId: text(), deviceId: text(), state: choice(), conversationId: maybe { $0.text() },
          lastInputAt: maybe { $0.integer() }, tabId: maybe { $0.text() }, live: maybe { $0.flag() }))
    case 1:
      .read(
        MessageRead(
          userId: text(), conversationId: text(), messageId: maybe { $0.text() }, deviceId: maybe { $0.text() }))
    case 2:
      .feedback(FeedbackSubmitted(userId: text(), conversationId: text(), messageId: text(), feedback: choice()))
    case 3: .notificationReceived(report())
    case 4: .notificationOpened(report())
    case 5: .notificationDismissed(report())
    case 6: .preferences(PreferencesUpdated(userId: text(), preferences: patch()))
    case 7: .deleted(UserDeleted(userId: text()))
    case 8: .deviceRegistered(registration())
    default: .deviceUnregistered(DeviceUnregistered(userId: text(), deviceId: text()))
    }
  }

  private mutating func report() -> NotificationReport {
    NotificationReport(
      userId: text(), deviceId: text(), pushId: text(), conversationId: maybe { $0.text() },
      messageId: maybe { $0.text() }, sentAt: maybe { $0.integer() }, banner: maybe { $0.flag() })
  }

  private mutating func gained() -> DeviceGained {
    let address = address()
    return DeviceGained(
      userId: text(), deviceId: text(), token: address.token, webPush: address.webPush, sealing: address.sealing,
      version: integer(), platform: choice(), appVersion: maybe { $0.text() }, locale: maybe { $0.text() },
      projectId: maybe { $0.text() }, renders: maybe { $0.flag() })
  }

  private mutating func registration() -> DeviceRegistered {
    let address = address()
    return DeviceRegistered(
      userId: text(), deviceId: text(), token: address.token, webPush: address.webPush, sealing: address.sealing,
      platform: choice(), appVersion: maybe { $0.text() },
      locale: maybe { $0.text() }, projectId: maybe { $0.text() }, renders: maybe { $0.flag() })
  }

  private mutating func address() -> (token: String?, webPush: WebPushSubscription?, sealing: SealingKeys?) {
    if takesSecond.map({ !$0 }) ?? random.oneIn(2) {
      return (text(), nil, maybe { SealingKeys(p256dh: $0.text(), auth: $0.text()) })
    }
    return (nil, WebPushSubscription(endpoint: text(), p256dh: text(), auth: text()), nil)
  }

  fileprivate mutating func target() -> PushTarget {
    let address = address()
    return PushTarget(
      deviceId: text(), token: address.token, webPush: address.webPush, sealing: address.sealing, version: integer(),
      platform: choice(), projectId: maybe { $0.text() },
      seenAt: maybe { $0.integer() }, renders: maybe { $0.flag() }, foreground: maybe { $0.flag() },
      notBefore: maybe { $0.integer() })
  }

  private mutating func patch() -> PreferencesPatch {
    if random.oneIn(4) {
      return PreferencesPatch(
        changes: ListChanges(
          muted: maybe {
            ListChange(add: $0.list { MutedConversation(conversationId: $0.text()) }, remove: $0.list { $0.text() })
          }, starredSenders: maybe { ListChange(add: $0.list { $0.text() }, remove: $0.list { $0.text() }) },
          keywords: maybe { ListChange(add: $0.list { $0.text() }) },
          conversationLevels: maybe {
            ListChange(add: $0.list { ConversationLevel(conversationId: $0.text(), level: $0.choice()) })
          }, mutedSenders: maybe { ListChange(remove: $0.list { $0.text() }) }))
    }
    return PreferencesPatch(
      enabled: maybe { $0.flag() },
      quietHours: flag()
        ? .set(maybe { QuietHours(start: $0.text(), end: $0.text(), timeZone: $0.maybe { $0.text() }) }) : .unchanged,
      maxAnalysesPerHour: maybe { $0.int() }, fallback: maybe { $0.choice() },
      muted: maybe {
        $0.list {
          MutedConversation(
            conversationId: $0.text(), until: $0.maybe { $0.integer() }, exceptMentions: $0.maybe { $0.flag() })
        }
      }, starredSenders: maybe { $0.list { $0.text() } }, keywords: maybe { $0.list { $0.text() } },
      badgeMode: maybe { $0.choice() }, showPreviews: maybe { $0.flag() }, locale: maybe { $0.text() },
      learnSince: maybe { $0.integer() }, burstSeconds: maybe { $0.int() },
      defaultLevels: maybe { DefaultLevels(direct: $0.maybe { $0.choice() }, group: $0.maybe { $0.choice() }) },
      conversationLevels: maybe { $0.list { ConversationLevel(conversationId: $0.text(), level: $0.choice()) } },
      mutedSenders: maybe { $0.list { $0.text() } },
      digestTimes: flag() ? .set(maybe { $0.list { $0.text() } }) : .unchanged, timeZone: maybe { $0.text() },
      dailyAlerts: flag() ? .set(maybe { $0.int() }) : .unchanged)
  }

  static let deviceClaims = DeviceClaimBody.types.count

  mutating func deviceClaim(_ number: Int) -> DeviceClaim {
    let body: DeviceClaimBody =
      switch number % Self.deviceClaims {
      case 0: .registered(TokenClaimed(tokenHash: text(), device: registration()))
      case 1: .userDeleted(UserDeleted(userId: text()))
      case 2: .userRestored(UserDeleted(userId: text()))
      default: .unregistered(TokenReleased(tokenHash: text(), userId: text(), deviceId: text(), cause: choice()))
      }
    return derived(body)
  }

  /// The user events that reach the timeline come last.
  static let timelineEvents = TimelineEventBody.types.count

  mutating func timelineEvent(_ number: Int) -> TimelineEvent {
    let body: TimelineEventBody =
      switch number % Self.timelineEvents {
      case 0: .candidate(candidate())
      case 1: .redecide(candidate())
      case 2: .sent(MessageSent(userId: text(), conversationId: text(), messageId: text()))
      case 3: .timerFired(TimerFired(timer: text(), dueAt: integer()))
      case 4:
        .withdrawn(
          MessageWithdrawn(
            userIds: list { $0.text() }, conversationId: text(), messageId: maybe { $0.text() }, cause: choice(),
            body: maybe { $0.text() }, title: maybe { $0.text() },
            sender: maybe { Member(userId: $0.text(), displayName: $0.text(), avatarUrl: $0.maybe { $0.text() }) }))
      case 5: .deviceGained(gained())
      case 6:
        .deviceLost(
          DeviceLost(userId: text(), deviceId: text(), tokenHash: text(), version: integer(), cause: choice()))
      case 7:
        .deviceInvalidated(
          DeviceInvalidated(userId: text(), deviceId: text(), tokenHash: text(), version: integer(), code: text()))
      case 8: .replayStopped(ReplayStopped(replayId: text(), after: maybe { $0.text() }))
      case 9:
        .pushMissed(
          PushMissed(
            userId: text(), pushId: text(), device: int(), devices: int(), conversationId: text(), messageId: text(),
            cause: choice(), presentation: choice(), priority: choice(), sentAt: integer(), expiresAt: integer(),
            senderName: text(), groupName: maybe { $0.text() }, text: text(), edited: maybe { $0.flag() },
            senderId: maybe { $0.text() }, avatarUrl: maybe { $0.text() }))
      case 10:
        .asked(
          PersonAsked(
            userId: text(),
            device: maybe {
              PersonAsked.Device(
                deviceId: $0.text(), stamp: EventStamp(occurredAt: $0.integer(), eventId: $0.text()),
                isRegistered: $0.flag())
            }))
      case let number: .user(userEventBody(number - 11))
      }
    return derived(body)
  }

  private mutating func candidate() -> MessageCandidate {
    MessageCandidate(
      conversationId: text(), messageId: text(), sender: member(),
      conversation: CandidateConversation(
        kind: choice(), name: maybe { $0.text() },
        others: maybe {
          $0.list { Member(userId: $0.text(), displayName: $0.text(), avatarUrl: $0.maybe { $0.text() }) }
        }, memberCount: int(), activeSpeakers: int(),
        features: maybe { $0.text() }),
      title: text(), body: text(), attachment: maybe { $0.attachment() }, mentions: list { $0.text() },
      replyTo: maybe { $0.text() },
      answers: maybe { AnsweredMessage(messagesBack: $0.int(), sentAt: $0.integer()) },
      urgent: maybe { $0.flag() },
      recipients: list {
        Recipient(
          userId: $0.text(),
          context: RecipientContext(
            mentioned: $0.flag(), named: $0.flag(), answered: $0.flag(), lastSpokeAt: $0.maybe { $0.integer() },
            messagesSince: $0.maybe { $0.int() }, exchange: $0.int(), features: $0.maybe { $0.text() }))
      }, possibleRepeat: maybe { $0.flag() }, byUser: maybe { $0.flag() }, replayId: maybe { $0.text() },
      forced: maybe { $0.flag() },
      failedPushes: maybe {
        $0.list {
          FailedPush(
            userId: $0.text(), pushId: $0.text(), devices: $0.maybe { $0.list { $0.text() } },
            presentation: $0.maybe { $0.choice() })
        }
      }, maxAgeSeconds: maybe { $0.int() }, rederived: maybe { $0.flag() })
  }

  mutating func decision() -> Decision {
    derived(
      DecisionBody(
        userId: text(), messageId: text(), conversationId: text(), outcome: choice(), reason: choice(), text: text(),
        presentation: maybe { $0.choice() }, level: maybe { $0.choice() }, priority: maybe { $0.choice() },
        score: maybe { $0.number() },
        signals: list { Signal(name: $0.text(), value: $0.number(), weight: $0.number()) },
        checks: list { $0.check() }, badge: int(),
        analysis: maybe {
          AnalysisUse(
            used: $0.int(), limit: $0.int(), windowStartedAt: $0.maybe { $0.integer() },
            fallback: $0.maybe { $0.choice() })
        }, model: maybe { $0.text() }, rules: maybe { $0.text() }, policy: maybe { $0.text() },
        pushId: maybe { $0.text() }, mode: choice(),
        decidedAt: integer(), heldUntil: maybe { $0.integer() }, replayId: maybe { $0.text() }))
  }

  private mutating func check() -> Check {
    var inputs = CheckInputs()
    for _ in 0..<(isFull ? 3 : random.below(3)) {
      inputs[text()] =
        switch random.below(3) {
        case 0: .number(integer())
        case 1: .text(text())
        default: .flag(random.oneIn(2))
        }
    }
    return Check(check: text(), result: isFull ? .suppress : choice(), inputs: inputs)
  }

  static let pushEvents = PushEventBody.types.count

  mutating func pushEvent(_ number: Int) -> PushEvent {
    if number % Self.pushEvents == 2 {
      return derived(
        .answered(
          PushAnswered(
            userId: text(), deviceId: text(), pushId: text(), attempt: int(), result: choice(),
            httpStatus: maybe { $0.int() }, errorCode: maybe { $0.text() }, fcmName: maybe { $0.text() },
            requests: maybe { $0.int() },
            startedAt: maybe { $0.integer() }, finishedAt: maybe { $0.integer() })))
    }
    guard number % Self.pushEvents == 0 else {
      return derived(
        .cancelled(
          PushCancelled(
            userId: text(), deviceId: maybe { $0.text() }, messageId: maybe { $0.text() },
            conversationId: maybe { $0.text() }, sentUpTo: maybe { $0.integer() }, kind: maybe { $0.choice() },
            exceptMentions: maybe { $0.flag() }, tokenHash: maybe { $0.text() }, version: maybe { $0.integer() },
            badge: maybe { $0.int() }, erased: maybe { $0.flag() }, replayId: maybe { $0.text() },
            senderId: maybe { $0.text() }, conversationKind: maybe { $0.choice() },
            exceptConversations: maybe { $0.list { $0.text() } }, exceptAddressed: maybe { $0.flag() },
            showPreviews: maybe { $0.flag() },
            quietHours: maybe { QuietHours(start: $0.text(), end: $0.text(), timeZone: $0.maybe { $0.text() }) },
            target: maybe { $0.target() })))
    }
    return derived(
      .push(
        Push(
          pushId: text(), kind: choice(), userId: text(),
          targets: list { $0.target() }, title: maybe { $0.text() }, body: maybe { $0.text() },
          imageUrl: maybe { $0.text() },
          avatarUrl: maybe { $0.text() }, priority: choice(), presentation: choice(), replaces: maybe { $0.flag() },
          mentioned: maybe { $0.flag() }, answered: maybe { $0.flag() },
          urgent: maybe { $0.flag() },
          quietHours: maybe { QuietHours(start: $0.text(), end: $0.text(), timeZone: $0.maybe { $0.text() }) },
          sentAt: maybe { $0.integer() }, reason: maybe { $0.choice() }, badge: int(),
          conversationId: maybe { $0.text() }, messageId: maybe { $0.text() }, senderId: maybe { $0.text() },
          conversation: maybe {
            PushConversation(senderName: $0.text(), kind: $0.choice(), name: $0.maybe { $0.text() })
          }, unread: maybe { $0.int() }, language: maybe { $0.text() },
          digest: maybe { $0.digest() },
          escalation: maybe { fields in
            Escalation(
              pushedAt: fields.integer(), pushedAgainAt: fields.maybe { $0.integer() },
              senderName: fields.maybe { $0.text() }, groupName: fields.maybe { $0.text() })
          }, ttlSeconds: int(), expiresAt: integer(), decidedAt: integer())))
  }

  private mutating func digest() -> Digest {
    Digest(
      messages: int(), conversations: int(),
      lines: list {
        Digest.Line(conversationId: $0.text(), messageId: $0.text(), title: $0.text(), text: $0.text())
      },
      parts: maybe {
        $0.list { Digest.Part(conversationId: $0.text(), messages: $0.int(), keys: $0.list { $0.text() }) }
      })
  }

  static let bannerEvents = BannerEventBody.types.count

  mutating func bannerEvent(_ number: Int) -> BannerEvent {
    switch number % Self.bannerEvents {
    case 0:
      derived(
        .banner(
          Banner(
            userId: text(), conversationId: text(), messageId: text(), senderId: text(), senderName: text(),
            avatarUrl: maybe { $0.text() }, preview: text(), groupName: maybe { $0.text() },
            pushId: maybe { $0.text() })))
    case 1:
      derived(.notice(Notice(userId: text(), code: choice(), limit: int(), fallback: choice(), text: text())))
    case 2:
      derived(
        .badge(
          BadgeChange(
            userId: text(), badge: int(),
            conversations: (0..<3).map { _ in .init(conversationId: text(), unread: int()) })))
    case 3:
      derived(
        .read(
          ConversationRead(
            userId: text(), conversationId: text(), messageId: maybe { $0.text() }, sentAt: integer())))
    case 4:
      derived(
        .updated(MessageUpdate(userId: text(), conversationId: text(), messageId: text(), preview: text())))
    case 5:
      derived(
        .answered(
          PersonAnswered(userId: text(), questionId: text(), person: maybe { $0.text() }, isBehind: flag())))
    default: derived(.withdrawn(MessageRemoval(userId: text(), conversationId: text(), messageId: text())))
    }
  }

  mutating func outcome() -> Outcome {
    derived(
      OutcomeBody(
        pushId: text(), userId: text(), deviceId: text(), tokenHash: text(), result: choice(),
        httpStatus: maybe { $0.int() }, errorCode: maybe { $0.text() }, fcmName: maybe { $0.text() },
        destination: maybe { $0.choice() }, collapseKey: maybe { $0.text() }, catchUp: maybe { $0.flag() },
        attempts: int(),
        firstAttemptAt: maybe { $0.integer() }, finishedAt: integer()))
  }

  mutating func receipt() -> Receipt {
    derived(
      ReceiptBody(
        pushId: text(), userId: text(), deviceId: text(), state: choice(), platform: choice(),
        appVersion: maybe { $0.text() }, sentAt: integer()))
  }
}
