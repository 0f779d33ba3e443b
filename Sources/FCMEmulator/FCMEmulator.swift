// FCMEmulator
