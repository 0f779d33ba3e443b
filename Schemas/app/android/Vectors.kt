// Runs the vectors of Schemas/app against Nudge.kt: `kotlinc Nudge.kt Vectors.kt -cp android-json.jar`, then `nudge.VectorsKt FOLDER`.
package nudge

import java.io.File
import org.json.JSONArray
import org.json.JSONObject

private fun JSONObject.text(key: String): String? = if (isNull(key)) null else getString(key)
private fun JSONObject.push(key: String) = Push(getJSONObject(key).let { o -> o.keys().asSequence().map { it as String }.associateWith { o.getString(it) } })
private fun JSONObject.mark(key: String) =
  getJSONObject(key).let { Mark(it.getString("conversationId"), it.text("messageId"), if (it.isNull("time")) null else it.getLong("time")) }

/** JSON with its keys in order. */
private fun sorted(value: Any?): String = when (value) {
  is JSONObject -> value.keys().asSequence().map { it as String }.sorted().joinToString(",", "{", "}") { "\"$it\":" + sorted(value.get(it)) }
  is JSONArray -> (0 until value.length()).joinToString(",", "[", "]") { sorted(value.get(it)) }
  null, JSONObject.NULL -> "null"
  is String -> JSONObject.quote(value)
  else -> value.toString()
}

private fun json(action: Action): JSONObject = when (action) {
  is Action.Present -> JSONObject().put("present", JSONArray(action.options)).put("badge", action.badge ?: JSONObject.NULL)
  is Action.PresentCatchUp -> JSONObject().put("options", JSONArray(action.options)).put("badge", action.badge ?: JSONObject.NULL)
  is Action.RemoveCatchUp -> JSONObject().put("removeCatchUp", action.pushId).put("badge", action.badge)
  is Action.SetBadge -> JSONObject().put("setBadge", action.badge)
  is Action.RemoveUpTo -> JSONObject().put("badge", action.badge).put("removeUpTo", JSONObject()
    .put("conversationId", action.mark.conversationId).put("messageId", action.mark.messageId ?: JSONObject.NULL)
    .put("time", action.mark.time ?: JSONObject.NULL))
  is Action.Remove -> JSONObject().put("badge", action.badge)
    .put("remove", JSONObject().put("conversationId", action.conversationId).put("messageId", action.messageId))
  is Action.Drop -> JSONObject().put("drop", action.reason)
}

private fun presentation(test: JSONObject, compare: (JSONObject, Any?) -> Unit) {
  val state = test.getJSONObject("state")
  val presenter = Presenter(
    state.text("userId"), state.getBoolean("isForeground"), state.text("openConversationId"), state.getBoolean("hasLiveChannel"))
  for (step in test.getJSONArray("steps").objects()) {
    when {
      step.has("push") -> {
        val result = try {
          val push = step.push("push")
          val action = presenter.receive(push)
          // An app leaves out the lines that are gone, and shows nothing where none is left of all.
          if (action is Action.PresentCatchUp) {
            val all = JSONArray(push["lines"]).objects()
            val lines = all.filter { !presenter.isGone(it.getString("conversationId"), it.getString("messageId")) }
            if (lines.isEmpty() && all.size == push["messages"]?.toInt()) json(Action.SetBadge(action.badge ?: 0))
            else json(action).put("presentCatchUp", JSONArray(lines.map { it.getString("messageId") }))
          } else json(action)
        } catch (error: PushError) {
          JSONObject().put("error", error.key)
        } catch (error: org.json.JSONException) {
          JSONObject().put("error", "lines")
        }
        compare(step, result)
      }
      step.has("banner") -> step.getJSONObject("banner").let {
        compare(step, JSONObject().put("admit", presenter.admits(
          it.getString("userId"), it.getString("conversationId"), it.getString("messageId"), it.getString("senderId"), it.getLong("occurredAt"))))
      }
      step.has("read") -> presenter.conversationRead(step.mark("read"))
      step.has("user") -> presenter.userChanged(step.text("user"))
      step.has("foreground") -> presenter.isForeground = step.getBoolean("foreground")
      step.has("live") -> presenter.hasLiveChannel = step.getBoolean("live")
      else -> presenter.openConversationId = step.text("open")
    }
  }
}

private fun badge(test: JSONObject, compare: (JSONObject, Any?) -> Unit) {
  val badge = Badge(test.getString("mode"))
  for (step in test.getJSONArray("steps").objects()) {
    compare(step, when {
      step.has("push") -> badge.received(step.push("push"))
      step.has("launched") -> badge.launched(step.getInt("launched"), step.getJSONArray("delivered").objects().map {
        JSONObject().put("push", it).push("push") })
      step.has("opened") -> badge.opened(step.getString("opened"))
      step.has("read") -> badge.read(step.mark("read"))
      step.has("closed") -> badge.closed()
      else -> badge.signedOut()
    })
  }
}

private fun JSONArray.objects() = (0 until length()).map { getJSONObject(it) }

fun main(arguments: Array<String>) {
  var count = 0
  var differences = 0
  fun file(name: String) = JSONObject(File(arguments[0], "$name.json").readText())
  for ((name, run) in listOf("presentation" to ::presentation, "badge" to ::badge)) {
    for (test in file(name).getJSONArray("cases").objects()) {
      run(test) { step, result ->
        count += 1
        if (sorted(result) != sorted(step.get("expect"))) {
          differences += 1
          println("${test.getString("name")}: ${sorted(result)} is not ${sorted(step.get("expect"))}")
        }
      }
    }
  }
  if (File(arguments[0], "notification-ids.json").exists()) {
    for (entry in file("notification-ids").getJSONArray("ids").objects()) {
      count += 1
      val made = notificationId(entry.getString("conversationId"), entry.getString("messageId"))
      if (made != entry.getString("id")) { differences += 1; println("$entry: $made") }
    }
  }
  println("$count compared, $differences differ")
}
