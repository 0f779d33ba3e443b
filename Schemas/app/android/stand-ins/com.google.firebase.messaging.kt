package com.google.firebase.messaging

import android.app.Service

open class FirebaseMessagingService : Service() {
  open fun onMessageReceived(message: RemoteMessage) {}
  open fun onNewToken(token: String) {}
  open fun onDeletedMessages() {}
}

class RemoteMessage { val data: Map<String, String> get() = TODO() }
