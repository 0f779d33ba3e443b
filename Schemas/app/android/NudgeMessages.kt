// The receiving class of an Android app that draws its notifications (device.registered with renders: true): one notification a
// conversation with sender, picture, Reply and Mark Read. Needs androidx.core and firebase-messaging; Nudge.kt is beside it.
package nudge

import android.app.PendingIntent
import android.content.BroadcastReceiver
import android.content.Context
import android.content.Intent
import androidx.core.app.NotificationCompat
import androidx.core.app.NotificationCompat.MessagingStyle
import androidx.core.app.NotificationManagerCompat
import androidx.core.app.Person
import androidx.core.app.RemoteInput
import androidx.core.graphics.drawable.IconCompat
import com.google.firebase.messaging.FirebaseMessagingService
import com.google.firebase.messaging.RemoteMessage

/** What only the app itself has. Its words are those of Schemas/app/words.json. */
interface NudgeApp {
  val presenter: Presenter
  val smallIcon: Int
  /** The user in their own notifications. */
  val me: Person
  fun word(name: String): String
  /** A picture, from a cache or fetched within the seconds that a service has; null: none. */
  fun picture(url: String): IconCompat?
  /** Opens the conversation. */
  fun intent(conversationId: String, messageId: String): PendingIntent
  /** Publishes an event with these fields, with an eventId and a time of its own, until it is accepted (WorkManager). */
  fun publish(type: String, fields: Map<String, Any?>, eventId: String? = null)
  fun newId(): String
  val deviceId: String
  /** Registers the token: device.registered with platform android and renders true. */
  fun tokenReceived(token: String)
  /** Fetches conversations and unread messages from the backend: FCM has thrown pushes away. */
  fun synchronize()
  /** Shows a catch-up, or an in-app banner while the app is in the foreground. */
  fun show(push: Push, options: List<String>)

  companion object {
    /** Set in Application.onCreate. */
    lateinit var app: NudgeApp
  }
}

class NudgeMessages : FirebaseMessagingService() {
  override fun onNewToken(token: String) = NudgeApp.app.tokenReceived(token)
  override fun onDeletedMessages() = NudgeApp.app.synchronize()

  // For messages of data alone this is called in the background too, for others in the foreground alone.
  override fun onMessageReceived(message: RemoteMessage) {
    val push = try { Push(message.data) } catch (error: PushError) { return }
    val app = NudgeApp.app
    val action = app.presenter.receive(push)
    if (action != Action.Drop("other_recipient") && push.isMessage) app.publish("notification.received", push.report, push.receiptId)
    val notifications = ConversationNotifications(this, app)
    when (action) {
      is Action.Present ->
        if ("list" in action.options) notifications.add(push, "sound" in action.options)
        else if ("banner" in action.options) app.show(push, action.options)
      is Action.PresentCatchUp -> app.show(push, action.options)
      is Action.RemoveCatchUp -> notifications.removeCatchUp(action.pushId)
      is Action.RemoveUpTo -> notifications.remove(action.mark)
      is Action.Remove -> notifications.remove(action.conversationId, action.messageId)
      is Action.SetBadge, is Action.Drop -> {}
    }
  }
}

private val Push.report get() = mapOf(
  "userId" to recipientId, "deviceId" to NudgeApp.app.deviceId, "pushId" to pushId, "conversationId" to conversationId,
  "messageId" to messageId, "sentAt" to timestamp?.times(1000))

/** The same however often the push is reported. */
private val Push.receiptId get() = "received.$pushId.${NudgeApp.app.deviceId}".take(128)

/** One notification a conversation, with its latest messages. */
class ConversationNotifications(private val context: Context, private val app: NudgeApp) {
  private val manager = NotificationManagerCompat.from(context)

  private fun shown(conversationId: String): MessagingStyle? {
    val tag = notificationId(conversationId)
    val active = manager.activeNotifications.firstOrNull { it.tag == tag } ?: return null
    return MessagingStyle.extractMessagingStyleFromNotification(active.notification)
  }

  /** The style with these messages, the latest 25. */
  private fun style(of: MessagingStyle?, messages: List<MessagingStyle.Message>): MessagingStyle {
    val style = MessagingStyle(app.me)
    style.setGroupConversation(of?.isGroupConversation ?: false)
    style.setConversationTitle(of?.conversationTitle)
    messages.takeLast(25).forEach { style.addMessage(it) }
    return style
  }

  fun add(push: Push, hasSound: Boolean) {
    val conversationId = push.conversationId ?: return
    val messageId = push.messageId ?: return
    val name = push["senderName"] ?: push["title"] ?: ""
    val sender = Person.Builder().setKey(push["senderId"]).setName(name)
      .setIcon(push["avatarUrl"]?.let { app.picture(it) }).build()
    // Somebody may have signed out while the picture was fetched.
    if (push.recipientId != app.presenter.userId) return
    val written = MessagingStyle.Message(push["body"] ?: "", (push.timestamp ?: 0) * 1000, sender)
    written.extras.putString("messageId", messageId)
    val former = shown(conversationId)
    // An edit, or a push that comes again, replaces its message where it stands.
    val earlier = former?.messages.orEmpty()
    val place = earlier.indexOfFirst { it.id == messageId }
    val messages = if (place < 0) earlier + written else earlier.toMutableList().also { it[place] = written }
    val style = style(former, messages)
    val isGroup = push["isGroup"] == "true"
    style.setGroupConversation(isGroup)
    style.setConversationTitle(if (isGroup) push["conversationTitle"] ?: "" else null)
    post(style, conversationId, messageId, hasSound)
    // After a sign-out meanwhile it goes. The app could not cancel what was not posted yet.
    if (push.recipientId != app.presenter.userId) manager.cancel(notificationId(conversationId), 0)
  }

  fun addOwn(text: String, conversationId: String, messageId: String) {
    val former = shown(conversationId) ?: return
    val own = MessagingStyle.Message(text, System.currentTimeMillis(), null as Person?)
    post(style(former, former.messages + own), conversationId, messageId, false)
  }

  fun remove(mark: Mark) {
    val messages = shown(mark.conversationId)?.messages ?: return
    val isCovered = mark.covers(messages.map { Pair(it.id, it.timestamp / 1000) })
    keep(mark.conversationId, messages.filterIndexed { index, _ -> !isCovered[index] })
  }

  fun remove(conversationId: String, messageId: String) {
    val messages = shown(conversationId)?.messages ?: return
    keep(conversationId, messages.filter { it.id != messageId })
  }

  fun removeCatchUp(pushId: String) = manager.cancel(pushId, 0)

  private fun keep(conversationId: String, messages: List<MessagingStyle.Message>) {
    val last = messages.lastOrNull { it.id != "" } ?: return manager.cancel(notificationId(conversationId), 0)
    post(style(shown(conversationId), messages), conversationId, last.id, false)
  }

  private val MessagingStyle.Message.id get() = extras.getString("messageId") ?: ""

  private fun post(style: MessagingStyle, conversationId: String, messageId: String, hasSound: Boolean) {
    val reply = RemoteInput.Builder("text").setLabel(app.word("replyPlaceholder")).build()
    val builder = NotificationCompat.Builder(context, if (hasSound) "messages" else "messages_silent")
      .setSmallIcon(app.smallIcon).setStyle(style).setShortcutId(conversationId)
      .setCategory(NotificationCompat.CATEGORY_MESSAGE).setAutoCancel(true).setOnlyAlertOnce(!hasSound)
      .setContentIntent(app.intent(conversationId, messageId))
      .addAction(
        NotificationCompat.Action.Builder(0, app.word("reply"), action(NudgeActions.REPLY, conversationId, messageId))
          .addRemoteInput(reply).build())
      .addAction(
        NotificationCompat.Action.Builder(0, app.word("markRead"), action(NudgeActions.MARK_READ, conversationId, messageId)).build())
    manager.notify(notificationId(conversationId), 0, builder.build())
  }

  private fun action(name: String, conversationId: String, messageId: String): PendingIntent {
    val intent = Intent(context, NudgeActions::class.java).setAction(name)
      .putExtra("conversationId", conversationId).putExtra("messageId", messageId).putExtra("userId", app.presenter.userId)
    // Mutable: the system writes the text into it.
    return PendingIntent.getBroadcast(
      context, notificationId(conversationId, name).hashCode(), intent, PendingIntent.FLAG_UPDATE_CURRENT or PendingIntent.FLAG_MUTABLE)
  }
}

/** Reply and Mark Read. */
class NudgeActions : BroadcastReceiver() {
  override fun onReceive(context: Context, intent: Intent) {
    val app = NudgeApp.app
    val userId = intent.getStringExtra("userId")
    val conversationId = intent.getStringExtra("conversationId") ?: return
    val messageId = intent.getStringExtra("messageId") ?: return
    // Another user may be signed in by now.
    if (userId == null || userId != app.presenter.userId) return
    val notifications = ConversationNotifications(context, app)
    when (intent.action) {
      REPLY -> {
        val text = RemoteInput.getResultsFromIntent(intent)?.getCharSequence("text")?.toString()?.trim()
        if (text.isNullOrEmpty()) return
        app.publish("message.created", mapOf(
          "conversationId" to conversationId, "messageId" to app.newId(), "senderId" to userId, "text" to text, "replyTo" to messageId))
        // Posted again, or the button would spin for ever.
        notifications.addOwn(text, conversationId, messageId)
      }
      MARK_READ -> {
        app.publish("message.read", mapOf(
          "userId" to userId, "conversationId" to conversationId, "messageId" to messageId, "deviceId" to app.deviceId))
        val mark = Mark(conversationId, messageId, null)
        app.presenter.conversationRead(mark)
        notifications.remove(mark)
      }
    }
  }

  companion object {
    const val REPLY = "REPLY_ACTION"
    const val MARK_READ = "MARK_READ_ACTION"
  }
}
