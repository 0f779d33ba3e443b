import FCMEmulator

/// What the emulator puts on the wire, where `FCMAnswer` means the dispatcher's. (The module's name is also a class's, so
/// that it cannot be used to tell the two apart.)
typealias EmulatorAnswer = FCMAnswer
