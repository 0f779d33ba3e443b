package android.app

import android.content.Context
import android.content.Intent

open class Notification
open class Service : Context()
class PendingIntent {
  companion object {
    const val FLAG_UPDATE_CURRENT = 134217728
    const val FLAG_MUTABLE = 33554432
    @JvmStatic fun getBroadcast(context: Context, requestCode: Int, intent: Intent, flags: Int): PendingIntent = TODO()
  }
}
