import FCMEmulator
import Foundation
import ServiceKit

/// Writes a line without buffering: the parent process may wait for it.
func say(_ line: String, to file: FileHandle = .standardOutput) {
  file.write(Data((line + "\n").utf8))
}

func run() -> Int32 {
  let options: Options
  do {
    options = try Options(Array(ProcessArguments.all().dropFirst()))
  } catch {
    say("fcm-emulator: \(error); --help lists the flags", to: .standardError)
    return 2
  }
  if options.wantsHelp {
    say(Options.help)
    return 0
  }
  // Blocked before other threads start, so that only `sigwait` receives them.
  var signals = sigset_t()
  sigemptyset(&signals)
  sigaddset(&signals, SIGTERM)
  sigaddset(&signals, SIGINT)
  pthread_sigmask(SIG_BLOCK, &signals, nil)
  let emulator: FCMEmulator
  do {
    emulator = try FCMEmulator(options.configuration)
  } catch {
    say("fcm-emulator: \(error)", to: .standardError)
    return 1
  }
  emulator.start()
  let ready = ReadyLine(
    ready: true, url: emulator.url, plainUrl: emulator.plainURL, serviceAccount: emulator.serviceAccountFile,
    caFile: emulator.caFile, adminUrl: emulator.adminURL)
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
  if let line = try? encoder.encode(ready) { say(String(decoding: line, as: UTF8.self)) }
  var signal: Int32 = 0
  sigwait(&signals, &signal)
  emulator.stop()
  say(emulator.counters.json)
  return 0
}

struct ReadyLine: Encodable {
  let ready: Bool
  let url: String
  let plainUrl: String?
  let serviceAccount: String
  let caFile: String
  let adminUrl: String?
}

exit(run())
