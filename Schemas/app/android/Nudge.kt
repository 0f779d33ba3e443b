// The app's side of Nudge in Kotlin: values without I/O and without Android, as docs/apps.md says and Schemas/app/*.json checks.
package nudge

import java.security.MessageDigest

/** The data is no push of Nudge's: `key` is missing or wrong. */
class PushError(val key: String) : Exception("\"$key\" of the push is missing or wrong")

enum class Presentation(private val text: String, val options: List<String>) {
  ALERT("alert", listOf("banner", "list", "sound", "badge")), SILENT("silent", listOf("list", "badge")), BADGE("badge", listOf("badge"));

  companion object {
    fun named(name: String) = values().firstOrNull { it.text == name }
    fun of(priority: String) = when (priority) {
      "high" -> ALERT
      "medium" -> SILENT
      "low" -> BADGE
      else -> null
    }
  }
}

/** How far a conversation was read; `time` is in seconds. */
data class Mark(val conversationId: String, val messageId: String?, val time: Long?) {
  /** Whether it certainly covers a message, judged without its neighbours. */
  fun covers(conversationId: String?, messageId: String?, time: Long?) = conversationId == this.conversationId &&
    (messageId == this.messageId || this.time != null && time != null && time < this.time)

  /** Which messages of the conversation, id and time in the order they arrived, it covers. */
  fun covers(messages: List<Pair<String, Long?>>): List<Boolean> {
    val last = if (messageId == null) -1 else messages.indexOfLast { it.first == messageId }
    val bound = (if (last >= 0) messages[last].second else null) ?: time
    return messages.mapIndexed { index, (id, time) ->
      when {
        messageId != null && id == messageId -> true
        bound != null && time != null && time != bound -> time < bound
        bound == null || time == null -> if (messageId == null) this.time == null || time == null else last >= 0 && index < last
        else -> if (last >= 0) index < last else messageId == null
      }
    }
  }
}

/** A push, of FCM's data (`RemoteMessage.getData()`). */
class Push(private val data: Map<String, String>) {
  val type = need("type")
  val pushId = need("pushId")
  val recipientId = need("recipientId")
  val badge = data["badge"]?.let { count("badge") }?.toInt()
  val timestamp = data["timestamp"]?.let { count("timestamp") }
  val conversationId = data["conversationId"]
  val messageId = data["messageId"]
  val isMessage = type == "smart_notification" || type == "new_message"
  val replaces = isMessage && data["replaces"] == "true"
  val presentation: Presentation

  init {
    var presentation = Presentation.BADGE
    when (type) {
      "badge" -> count("badge")
      "read" -> { need("conversationId"); count("badge") }
      "deleted" -> { need("conversationId"); need("messageId"); count("badge") }
      "digest" -> {
        need("lines")
        presentation = Presentation.named(need("presentation")) ?: throw PushError("presentation")
        // Of a catch-up that shows nothing any more no message is left.
        val least = if (presentation == Presentation.BADGE) 0L else 1L
        count("messages", least)
        count("conversations", least)
      }
      "smart_notification", "new_message" -> {
        need("conversationId")
        need("messageId")
        if (!replaces) need("senderId")
        val ofPriority = Presentation.of(need("priority")) ?: throw PushError("priority")
        presentation = data["presentation"]?.let { Presentation.named(it) ?: throw PushError("presentation") } ?: ofPriority
      }
      else -> throw PushError("type")
    }
    this.presentation = presentation
  }

  val mark get() = Mark(conversationId ?: "", messageId, timestamp)

  operator fun get(key: String) = data[key]

  private fun need(key: String) = data[key]?.takeIf { it.isNotEmpty() } ?: throw PushError(key)

  private fun count(key: String, least: Long = 0): Long {
    val text = need(key)
    return text.toLongOrNull()?.takeIf { it >= least && text.all { c -> c in '0'..'9' } } ?: throw PushError(key)
  }
}

/** What the app does with a push. */
sealed class Action {
  data class Present(val options: List<String>, val badge: Int?) : Action()
  /** The lines are in the push; leave out those that `isGone`. */
  data class PresentCatchUp(val options: List<String>, val badge: Int?) : Action()
  /** Nothing is left of a catch-up: cancel the notification whose tag is the push's id. */
  data class RemoveCatchUp(val pushId: String, val badge: Int) : Action()
  data class SetBadge(val badge: Int) : Action()
  data class RemoveUpTo(val mark: Mark, val badge: Int) : Action()
  data class Remove(val conversationId: String, val messageId: String, val badge: Int) : Action()
  data class Drop(val reason: String) : Action()
}

/** Decides what to do with pushes and in-app banners. Keep it as long as the process lives. */
class Presenter(
  userId: String?, var isForeground: Boolean, var openConversationId: String? = null, var hasLiveChannel: Boolean = false
) {
  /** Volatile: the app changes it on its main thread, and pushes arrive on another. */
  @Volatile var userId = userId
    private set
  private val announced = Recent<Pair<String?, String?>>()
  private val listed = Recent<Pair<String?, String?>>()
  private val deleted = Recent<Pair<String?, String?>>()
  private val endedCatchUps = Recent<String>()
  private val marks = LinkedHashMap<String, Mark>()

  /** Another user is signed in, or nobody: forgets the former one. */
  fun userChanged(userId: String?) {
    if (userId == this.userId) return
    this.userId = userId
    openConversationId = null
    listOf(announced, listed, deleted).forEach { it.clear() }
    endedCatchUps.clear()
    marks.clear()
  }

  fun receive(push: Push): Action {
    if (userId == null || push.recipientId != userId) return Action.Drop("other_recipient")
    val key = Pair(push.conversationId, push.messageId)
    return when (push.type) {
      "badge" -> Action.SetBadge(push.badge ?: 0)
      "read" -> {
        conversationRead(push.mark)
        Action.RemoveUpTo(push.mark, push.badge ?: 0)
      }
      "deleted" -> {
        deleted.add(key)
        Action.Remove(push.conversationId ?: "", push.messageId ?: "", push.badge ?: 0)
      }
      "digest" -> receiveCatchUp(push)
      else -> receiveMessage(push, key)
    }
  }

  private fun receiveCatchUp(push: Push): Action {
    if (push["messages"]?.toInt() == 0) {
      endedCatchUps.add(push.pushId)
      return Action.RemoveCatchUp(push.pushId, push.badge ?: 0)
    }
    if (push.pushId in endedCatchUps) return push.badge?.let { Action.SetBadge(it) } ?: Action.Drop("already_read")
    return Action.PresentCatchUp(options(push.presentation), push.badge)
  }

  private fun receiveMessage(push: Push, key: Pair<String?, String?>): Action {
    fun nothing(reason: String) = push.badge?.let { Action.SetBadge(it) } ?: Action.Drop(reason)
    if (key in deleted) return nothing("taken_back")
    if (isForeground && push.conversationId == openConversationId) return Action.Drop("open_conversation")
    if (isRead(push.conversationId, push.messageId, push.timestamp)) return nothing("already_read")
    val wasShown = push.presentation != Presentation.BADGE && (key in announced || key in listed)
    if (wasShown && !push.replaces) return nothing("already_shown")
    var options = options(push.presentation)
    if (push.presentation == Presentation.SILENT && isForeground) {
      if (hasLiveChannel || push.replaces) {
        listed.add(key)
      } else {
        options = listOf("banner") + options
        announced.add(key)
      }
    } else if (push.presentation != Presentation.BADGE) {
      announced.add(key)
    }
    return Action.Present(options, push.badge)
  }

  // In the foreground an alert leaves nothing in the list.
  private fun options(presentation: Presentation) =
    presentation.options.filter { !(isForeground && presentation == Presentation.ALERT && it == "list") }

  /** Whether a line of a catch-up is deleted or read. */
  fun isGone(conversationId: String, messageId: String) =
    Pair(conversationId, messageId) in deleted || isRead(conversationId, messageId, null)

  private fun isRead(conversationId: String?, messageId: String?, time: Long?) =
    marks[conversationId]?.covers(conversationId, messageId, time) == true

  /** The user has read a conversation up to a mark, here or elsewhere. */
  fun conversationRead(mark: Mark) {
    val former = marks[mark.conversationId]?.time
    if (former != null && mark.time != null && mark.time < former) return
    marks.remove(mark.conversationId)
    marks[mark.conversationId] = mark
    if (marks.size > 256) marks.remove(marks.keys.first())
  }

  /** Whether to show an in-app banner of the gateway; `occurredAt` is in milliseconds. */
  fun admits(userId: String, conversationId: String, messageId: String, senderId: String, occurredAt: Long): Boolean {
    val key = Pair<String?, String?>(conversationId, messageId)
    if (this.userId == null || userId != this.userId || senderId == userId || !isForeground ||
      conversationId == openConversationId || key in deleted || isRead(conversationId, messageId, occurredAt / 1000)
    ) return false
    return announced.add(key)
  }
}

/** The last 256 of something. */
private class Recent<T> {
  private val items = LinkedHashSet<T>()
  operator fun contains(item: T) = item in items
  fun clear() = items.clear()
  fun add(item: T): Boolean {
    if (!items.add(item)) return false
    if (items.size > 256) items.remove(items.first())
    return true
  }
}

/** The number on the app's icon: the services' less what was read here since. */
class Badge(private val mode: String = "conversations") {
  private val unread = LinkedHashMap<String, List<Pair<String, Long?>>>()
  private val counted = Recent<Pair<String, String>>()
  private var open: String? = null
  private var difference = 0

  private val count get() = if (mode == "conversations") unread.size else unread.values.map { it.size }.sum()
  val value get() = maxOf(0, count + difference)

  /** A push that was not dropped. */
  fun received(push: Push): Int {
    val conversationId = push.conversationId
    val messageId = push.messageId
    if (conversationId != null && messageId != null && (push.isMessage || push.type == "badge")) {
      if (counted.add(Pair(conversationId, messageId)) && conversationId != open) {
        unread[conversationId] = unread[conversationId].orEmpty() + Pair(messageId, push.timestamp)
      }
    } else if (push.type == "read") {
      read(push.mark)
    }
    if (push.type == "deleted" && conversationId != null) {
      keep(conversationId, unread[conversationId].orEmpty().filter { it.first != messageId })
    }
    push.badge?.let { difference = it - count }
    return value
  }

  /** The app was launched: the icon shows this number, and these pushes are shown. */
  fun launched(number: Int, delivered: List<Push>): Int {
    delivered.forEach { received(it) }
    difference = number - count
    return value
  }

  /** A conversation was read up to a mark. */
  fun read(mark: Mark): Int {
    val messages = unread[mark.conversationId].orEmpty()
    val isCovered = mark.covers(messages)
    keep(mark.conversationId, messages.filterIndexed { index, _ -> !isCovered[index] })
    return value
  }

  /** A conversation is on the screen. */
  fun opened(conversationId: String): Int {
    open = conversationId
    unread.remove(conversationId)
    return value
  }

  fun closed(): Int {
    open = null
    return value
  }

  fun signedOut(): Int {
    unread.clear()
    counted.clear()
    open = null
    difference = 0
    return 0
  }

  private fun keep(conversationId: String, messages: List<Pair<String, Long?>>) {
    if (messages.isEmpty()) unread.remove(conversationId) else unread[conversationId] = messages
  }
}

/** The id of a message's notification; without a message, of its conversation's. */
fun notificationId(conversationId: String, messageId: String = ""): String {
  val text = "${conversationId.toByteArray().size}:$conversationId$messageId"
  return MessageDigest.getInstance("SHA-256").digest(text.toByteArray()).take(16).joinToString("") { "%02x".format(it) }
}
