package android.os

class Bundle {
  fun putString(key: String, value: String?): Unit = TODO()
  fun getString(key: String): String? = TODO()
  fun getCharSequence(key: String): CharSequence? = TODO()
}
