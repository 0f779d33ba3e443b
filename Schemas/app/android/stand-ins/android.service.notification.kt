package android.service.notification

import android.app.Notification

class StatusBarNotification {
  val tag: String? get() = TODO()
  val notification: Notification get() = TODO()
}
