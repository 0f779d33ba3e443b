import Foundation
import NudgeClient

// Carries out the actions that NudgeClient's types return.
extension VirtualPhone {
  mutating func timeReached(at now: Date) {
    for timer in Timer.allCases {
      guard let due = wakes[timer], due <= now else { continue }
      wakes[timer] = nil
      switch timer {
      case .upload: perform(upload.timeReached(at: now), at: now)
      case .activity: perform(activity.timeReached(at: now), at: now)
      case .signOut: perform(ending.timeReached(at: now), at: now)
      case .banner: perform(banners.timeReached(at: now.timeIntervalSinceReferenceDate), at: now)
      case .routing: follow(router.timeReached(at: now), at: now)
      case .outbox: resend(at: now)
      case .receipts: perform(receipts.timeReached(at: now), at: now)
      }
    }
  }

  mutating func perform(_ actions: [TokenUpload.Action], at now: Date) {
    for action in actions {
      switch action {
      case .publish(let event):
        guard isOnline else {
          perform(upload.finished(eventId: event.eventId, succeeded: false, at: now), at: now)
          continue
        }
        if case .deviceRegistered = event.body { uploadEventId = event.eventId }
        outputs.append(.publish(event))
      case .cancel(let eventId): outputs.append(.cancel(eventId: eventId))
      case .wake(let time): wakes[.upload] = time
      case .cancelWake: wakes[.upload] = nil
      case .log(let line): emit(.log(line))
      }
    }
  }

  mutating func perform(_ actions: [ActivityReporter.Action], at now: Date) {
    for action in actions {
      switch action {
      case .publish(let event):
        if case .messageRead = event.body {
          send(event, at: now)
        } else if isOnline {
          // Without a network the report is lost. The next report replaces it.
          outputs.append(.publish(event))
        }
      case .wake(let time): wakes[.activity] = time
      case .cancelWake: wakes[.activity] = nil
      }
    }
  }

  mutating func perform(_ actions: [ReceiptQueue.Action], at now: Date) {
    for action in actions {
      switch action {
      case .keep, .remove: break
      case .publish(let events):
        guard isOnline else {
          perform(receipts.finished(succeeded: false, at: now), at: now)
          continue
        }
        reporting = (Set(events.map(\.eventId)), false)
        outputs += events.map { .publish($0) }
      case .wake(let time): wakes[.receipts] = time
      case .cancelWake: wakes[.receipts] = nil
      }
    }
  }

  mutating func perform(_ actions: [NotificationPermission.Action], at now: Date) {
    for action in actions {
      switch action {
      // The owner agrees to the app's explanation.
      case .explain: perform(permission.explanationEnded(agreed: true), at: now)
      case .ask: perform(permission.answered(granted: isAllowed), at: now)
      case .register: uploadAddress(at: now)
      case .forgetToken: perform(upload.permissionDenied(at: now), at: now)
      case .showBanner(let banner):
        emit(.settingsBanner(isShown: true))
        showText(banner.text)
      case .hideBanner: emit(.settingsBanner(isShown: false))
      case .openSettings: break
      }
    }
  }

  mutating func perform(_ actions: [SignOut.Action], at now: Date) {
    for action in actions {
      switch action {
      case .publish(let event):
        guard isOnline else {
          perform(ending.finished(eventId: event.eventId, succeeded: false), at: now)
          continue
        }
        outputs.append(.publish(event))
      case .wake(let time): wakes[.signOut] = time
      case .cancelWake: wakes[.signOut] = nil
      case .log(let line): emit(.log(line))
      case .keep, .removeKept: break
      case .deleteToken: deleteToken(at: now)
      case .closeConversation:
        perform(activity.signedOut(at: now), at: now)
        conversationId = nil
        presenter.openConversationId = nil
      case .forgetUser: forgetUser(at: now)
      case .clearBanners:
        perform(banners.signedOut(), at: now)
        remove(lockScreen.clear())
      case .dropPendingLink: follow(router.signedOut(), at: now)
      case .clearBadge:
        set(badge: counter.signedOut())
        if let next = nextUser {
          nextUser = nil
          signIn(next, at: now)
        }
      }
    }
  }

  /// Deletes the token, for which the app gets another. The phone plays the app's storage too, because its process never ends.
  mutating func deleteToken(at now: Date) {
    guard isOnline else { return perform(ending.tokenDeleted(succeeded: false), at: now) }
    outputs.append(.uninstalled(token: address))
    let installation = token.split(separator: "~", maxSplits: 1)[0]
    token = "\(installation)~\(makeId())"
    perform(upload.tokenDeleted(), at: now)
    perform(ending.tokenDeleted(succeeded: true), at: now)
    uploadAddress(at: now)
  }

  /// Uploads the address that FCM or the browser has given for pushes.
  private mutating func uploadAddress(at now: Date) {
    guard let pushService, let subscription = BrowserSubscription(name: token) else {
      return perform(upload.tokenReceived(token, at: now), at: now)
    }
    perform(upload.subscriptionReceived(subscription.registration(at: pushService), at: now), at: now)
  }

  mutating func forgetUser(at now: Date) {
    if let userId { emit(.signedOut(userId: userId)) }
    perform(upload.signedOut(), at: now)
    perform(permission.signedOut(), at: now)
    presenter.userChanged(to: nil)
    // Publishing these events needs the credentials of the user, who has signed out.
    if !unsent.isEmpty { emit(.log("\(unsent.count) events were not published before the sign-out and are lost")) }
    pending = []
    answers = [:]
    unsent = []
    wakes[.outbox] = nil
    reporting = ([], false)
    perform(receipts.signedOut(), at: now)
  }

  mutating func perform(_ actions: [BannerQueue.Action], at now: Date) {
    for action in actions {
      switch action {
      case .show(let banner):
        self.banner = banner
        emit(.bannerShown(banner))
        if answersBanners, case .message(let shown) = banner {
          perform(receipts.shown(shown, deviceId: device.deviceId, at: now), at: now)
        }
      case .hide(let hidden):
        if banner == hidden { banner = nil }
        emit(.bannerHidden(hidden))
      case .notify(let unseen):
        let entry = lockScreen.show(LockScreen.Entry(unseen, at: Int64(now.timeIntervalSince1970 * 1_000)))
        emit(.listed(entry))
      case .wake(let time): wakes[.banner] = Date(timeIntervalSinceReferenceDate: time)
      case .cancelWake: wakes[.banner] = nil
      case .route(let route): follow(router.receive(route, at: now), at: now)
      }
    }
  }

  mutating func follow(_ actions: [Router.Action], at now: Date) {
    for action in actions {
      switch action {
      // The app's list is loaded at once.
      case .loadList: follow(router.listLoaded(at: now), at: now)
      case .open(let conversationId):
        show(conversation: conversationId, at: now)
        follow(router.opened(conversationId, at: now), at: now)
      case .scroll(let messageId): follow(router.scrolled(to: messageId), at: now)
      case .highlight(let messageId, _): emit(.highlighted(messageId: messageId))
      case .tell(let text): showText(text)
      case .wake(let time): wakes[.routing] = time
      case .cancelWake: wakes[.routing] = nil
      }
    }
  }
}
