import NudgeClient
import Testing

@Suite("C8: permission")
struct NotificationPermissionTests {
  @Test("C8: after sign-in it is explained, then asked for alert, sound and badge, then registered")
  func granted() {
    var permission = NotificationPermission(status: .notDetermined)
    #expect(permission.signedIn() == [.explain])
    #expect(permission.signedIn() == [])
    #expect(permission.explanationEnded(agreed: true) == [.ask([.alert, .sound, .badge])])
    #expect(permission.explanationEnded(agreed: true) == [])
    #expect(permission.answered(granted: true) == [.register])
    #expect(permission.answered(granted: true) == [])
  }

  @Test("C8: denied: no registration, no token kept, a banner with the way to Settings")
  func denied() {
    var permission = NotificationPermission(status: .notDetermined)
    #expect(permission.bannerTapped() == [])
    _ = permission.signedIn()
    _ = permission.explanationEnded(agreed: true)
    #expect(permission.answered(granted: false) == [.forgetToken, .showBanner(.standard())])
    #expect(NotificationPermission.Banner.standard(.english).text == "Enable notifications in Settings to stay updated")
    #expect(NotificationPermission.Banner.standard(.english).button == "Open Settings")
    #expect(permission.bannerTapped() == [.openSettings])
    #expect(permission.becameActive(status: .denied) == [])
    #expect(permission.becameActive(status: .authorized) == [.hideBanner, .register])
    #expect(permission.becameActive(status: .denied) == [.forgetToken, .showBanner(.standard())])
  }

  @Test("C8: looked at again at each launch", arguments: [NotificationPermission.Status.denied, .authorized])
  func launch(status: NotificationPermission.Status) {
    var permission = NotificationPermission(status: status)
    let expected: [NotificationPermission.Action] =
      status == .authorized ? [.register] : [.forgetToken, .showBanner(.standard())]
    #expect(permission.signedIn() == expected)
  }

  @Test("C8: \"not now\" to the explanation asks nothing until the next launch")
  func postponed() {
    var permission = NotificationPermission(status: .notDetermined)
    _ = permission.signedIn()
    #expect(permission.explanationEnded(agreed: false) == [])
    _ = permission.signedOut()
    #expect(permission.signedIn() == [])
    var next = NotificationPermission(status: .notDetermined)
    #expect(next.signedIn() == [.explain])
  }

  @Test("C8: an answer that comes after the sign-out counts for the next who signs in; the banner goes at sign-out")
  func signOut() {
    var permission = NotificationPermission(status: .notDetermined)
    _ = permission.signedIn()
    _ = permission.explanationEnded(agreed: true)
    #expect(permission.signedOut() == [])
    #expect(permission.becameActive(status: .denied) == [])
    #expect(permission.answered(granted: false) == [])
    #expect(permission.signedIn() == [.forgetToken, .showBanner(.standard())])
    #expect(permission.signedOut() == [.hideBanner])
  }
}
