package android.content

import android.os.Bundle

open class Context
abstract class BroadcastReceiver { abstract fun onReceive(context: Context, intent: Intent) }
class Intent(context: Context, receiver: Class<*>) {
  fun setAction(action: String?): Intent = TODO()
  val action: String? get() = TODO()
  fun putExtra(name: String, value: String?): Intent = TODO()
  fun getStringExtra(name: String): String? = TODO()
  fun getExtras(): Bundle? = TODO()
}
