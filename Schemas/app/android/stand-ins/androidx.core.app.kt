package androidx.core.app

import android.app.Notification
import android.app.PendingIntent
import android.content.Context
import android.content.Intent
import android.os.Bundle
import android.service.notification.StatusBarNotification
import androidx.core.graphics.drawable.IconCompat

class Person private constructor() {
  class Builder {
    fun setKey(key: String?): Builder = TODO()
    fun setName(name: CharSequence?): Builder = TODO()
    fun setIcon(icon: IconCompat?): Builder = TODO()
    fun build(): Person = TODO()
  }
}

class RemoteInput private constructor() {
  class Builder(resultKey: String) {
    fun setLabel(label: CharSequence?): Builder = TODO()
    fun build(): RemoteInput = TODO()
  }
  companion object { @JvmStatic fun getResultsFromIntent(intent: Intent): Bundle? = TODO() }
}

class NotificationManagerCompat private constructor() {
  val activeNotifications: List<StatusBarNotification> get() = TODO()
  fun notify(tag: String?, id: Int, notification: Notification): Unit = TODO()
  fun cancel(tag: String?, id: Int): Unit = TODO()
  companion object { @JvmStatic fun from(context: Context): NotificationManagerCompat = TODO() }
}

class NotificationCompat {
  abstract class Style
  class MessagingStyle(user: Person) : Style() {
    class Message(val text: CharSequence?, val timestamp: Long, val person: Person?) { val extras: Bundle get() = TODO() }
    val isGroupConversation: Boolean get() = TODO()
    val conversationTitle: CharSequence? get() = TODO()
    fun setGroupConversation(isGroupConversation: Boolean): MessagingStyle = TODO()
    fun setConversationTitle(conversationTitle: CharSequence?): MessagingStyle = TODO()
    val messages: List<Message> get() = TODO()
    fun addMessage(message: Message): MessagingStyle = TODO()
    companion object { @JvmStatic fun extractMessagingStyleFromNotification(notification: Notification): MessagingStyle? = TODO() }
  }
  class Action private constructor() {
    class Builder(icon: Int, title: CharSequence?, intent: PendingIntent?) {
      fun addRemoteInput(remoteInput: RemoteInput?): Builder = TODO()
      fun build(): Action = TODO()
    }
  }
  class Builder(context: Context, channelId: String) {
    fun setSmallIcon(icon: Int): Builder = TODO()
    fun setStyle(style: Style?): Builder = TODO()
    fun setShortcutId(shortcutId: String?): Builder = TODO()
    fun setCategory(category: String?): Builder = TODO()
    fun setAutoCancel(autoCancel: Boolean): Builder = TODO()
    fun setOnlyAlertOnce(onlyAlertOnce: Boolean): Builder = TODO()
    fun setContentIntent(intent: PendingIntent?): Builder = TODO()
    fun addAction(action: Action?): Builder = TODO()
    fun build(): Notification = TODO()
  }
  companion object { const val CATEGORY_MESSAGE = "msg" }
}
