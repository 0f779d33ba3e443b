import FCMEmulator

/// The emulator's answer on the wire; `FCMAnswer` is the dispatcher's. The module's name cannot tell them apart, because a
/// class has the same name.
typealias EmulatorAnswer = FCMAnswer
