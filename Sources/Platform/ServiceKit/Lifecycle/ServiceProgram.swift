import Dispatch
import Foundation

/// The outermost layer of a service's executable: settings in, exit code out.
public struct ServiceProgram: Sendable {
  private let schema: SettingsSchema
  private let check: @Sendable (SettingsValues) throws -> Void
  private let run: @Sendable (SettingsValues) throws -> Int32

  /// - Parameters:
  ///   - schema: The program's settings.
  ///   - check: For `--check`: throws the reason why the service cannot run, such as an unreadable key file.
  ///   - run: Runs the service until its end, and returns the exit code.
  public init(
    _ schema: SettingsSchema, check: @escaping @Sendable (SettingsValues) throws -> Void,
    run: @escaping @Sendable (SettingsValues) throws -> Int32
  ) {
    self.schema = schema
    self.check = check
    self.run = run
  }

  /// Runs the program with the process's own command line and environment, and ends the process. A crash leaves a backtrace on
  /// standard error.
  public func runProcess() -> Never {
    CrashBacktrace.enable(environment: ProcessInfo.processInfo.environment)
    endProcess(main())
  }

  /// Runs with the process's own command line and environment, and returns the exit code.
  func main() -> Int32 {
    let process = ProcessInfo.processInfo
    return main(
      Array(ProcessArguments.all().dropFirst()), environment: process.environment,
      output: { FileHandle.standardOutput.write(Data("\($0)\n".utf8)) },
      errors: { FileHandle.standardError.write(Data("\($0)\n".utf8)) })
  }

  /// Runs with these arguments (without the program's name).
  /// - Parameters:
  ///   - output: Receives texts for standard output, without the last newline.
  ///   - errors: The same for standard error.
  /// - Returns: The exit code: `ExitCode.usage` for wrong settings, `ExitCode.failure` for a failed `--check`, `ExitCode.software` for any other error.
  public func main(
    _ arguments: [String], environment: [String: String], output: (String) -> Void, errors: (String) -> Void
  ) -> Int32 {
    do {
      switch try schema.parse(arguments, environment: environment) {
      case .print(let text):
        output(text)
      case .check(let values):
        do {
          try check(values)
        } catch let error where !(error is SettingsError) {
          errors("\(schema.program): \(error)")
          return ExitCode.failure
        }
        output("\(schema.program): the settings are good")
      case .run(let values):
        return try run(values)
      }
      return ExitCode.success
    } catch let error as SettingsError {
      errors("\(schema.program): \(error)")
      return ExitCode.usage
    } catch {
      errors("\(schema.program): \(error)")
      return ExitCode.software
    }
  }
}

/// Delivers SIGTERM, SIGINT, SIGUSR1 and optionally SIGHUP as calls on a queue, one after the other. It ignores
/// SIGPIPE, so that writing to a closed connection is an error instead of the end of the process.
///
/// A handler writes the signal's number to a pipe, and the queue reads it. Dispatch's own signal sources register
/// asynchronously and lose earlier signals, so a service that is stopped while it starts would not stop.
final class StopSignals {
  private let source: any DispatchSourceRead

  init(withHangup: Bool = false, _ onSignal: @escaping @Sendable (_ number: Int32) -> Void) {
    let reading = SignalPipe.shared.reading
    source = DispatchSource.makeReadSource(fileDescriptor: reading, queue: DispatchQueue(label: "nudge.signals"))
    source.setEventHandler {
      var number: UInt8 = 0
      while read(reading, &number, 1) == 1 { onSignal(Int32(number)) }
    }
    source.resume()
    signal(SIGPIPE, SIG_IGN)
    signal(SIGTERM, SignalPipe.handler)
    signal(SIGINT, SignalPipe.handler)
    signal(SIGUSR1, SignalPipe.handler)
    if withHangup { signal(SIGHUP, SignalPipe.handler) }
    unblock([SIGTERM, SIGINT, SIGUSR1, SIGHUP])
  }

  /// A process inherits the signal mask of the thread that started it. If the parent blocks all signals, as Dispatch's
  /// threads do, only SIGKILL would end the service.
  private func unblock(_ numbers: [Int32]) {
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in numbers { sigaddset(&signals, number) }
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }

  // The handlers stay installed: the process is about to end, and a further signal must not interrupt that.
  deinit { source.cancel() }
}

/// The pipe between signal handler and queue. A process has one and never closes it, because a handler may run at any moment.
private struct SignalPipe: Sendable {
  static let shared = SignalPipe()

  let reading: Int32

  /// Safe without a lock: it is written once, during the initialisation of `shared`, before a handler that reads it is
  /// installed.
  nonisolated(unsafe) private static var writing: Int32 = -1

  private init() {
    var ends: [Int32] = [-1, -1]
    // Without a free descriptor there is no pipe, and signals are ignored. The process's first socket then fails with
    // that reason.
    pipe(&ends)
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    reading = ends[0]
    Self.writing = ends[1]
  }

  /// Does only async-signal-safe work: one write. It restores errno.
  static let handler: @convention(c) (Int32) -> Void = { number in
    let before = errno
    var byte = UInt8(truncatingIfNeeded: number)
    write(SignalPipe.writing, &byte, 1)
    errno = before
  }
}

/// The process's command line.
public enum ProcessArguments {
  /// The arguments, the program's name first.
  ///
  /// On Linux the Swift runtime finds them in memory before the environment. A preloaded library (`LD_PRELOAD`) may
  /// have moved the environment; then the runtime finds no arguments, but /proc still has them.
  public static func all() -> [String] {
    let known = CommandLine.arguments
    return known.isEmpty ? split(contents(of: "/proc/self/cmdline")) : known
  }

  /// The arguments in a text in which each ends with a zero byte.
  static func split(_ text: [UInt8]) -> [String] {
    text.split(separator: 0, omittingEmptySubsequences: false).dropLast().map { String(decoding: $0, as: UTF8.self) }
  }

  /// Foundation's functions for whole files stop after one page of a file in /proc, whose size is 0.
  static func contents(of path: String) -> [UInt8] {
    (try? FileHandle(forReadingAtPath: path)?.readToEnd()).map(Array.init) ?? []
  }
}

/// Flushes the output and ends the process without the exit handlers of C libraries.
///
/// Threads of librdkafka or libcurl may still run, for example to verify a broker's certificate. The exit handlers
/// would free memory that OpenSSL is using, and the process would crash instead of returning its status.
public func endProcess(_ status: Int32) -> Never {
  fflush(nil)
  _exit(status)
}

/// Makes the Swift runtime write a backtrace to standard error when a signal kills the process.
///
/// The runtime reads `SWIFT_BACKTRACE` before `main`, so a process that was started without it must start its program
/// again.
enum CrashBacktrace {
  static let variable = "SWIFT_BACKTRACE"

  /// Text without registers, images or memory, which could contain tokens. In a development build the runtime's default
  /// shows the memory that registers point to, and its JSON format always does.
  static let options =
    "enable=yes,color=no,interactive=no,registers=none,images=none,threads=crashed,limit=64,sanitize=yes,cache=no,output-to=stderr"

  /// Starts the process's program again with the variable set. It happens only once, because the variable is set then.
  ///
  /// Returns if the variable is already set (also to `enable=no`), if the runtime's helper program is not found, or if
  /// the system refuses.
  static func enable(environment: [String: String]) {
    guard environment[variable] == nil,
      let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"),
      let helper = helpers(besideProgram: program, runtime: runtimePath()).first(where: {
        FileManager.default.isExecutableFile(atPath: $0)
      })
    else { return }
    setenv(variable, "\(options),swift-backtrace=\(helper)", 1)
    // The arguments stay the same, including the program's name.
    var arguments = ProcessArguments.all().map { strdup($0) } + [nil]
    // It returns only if it fails.
    execv("/proc/self/exe", &arguments)
    for argument in arguments { free(argument) }
    unsetenv(variable)
  }

  /// Where the helper may be: beside the program, as in the image, or in the toolchain whose runtime library the
  /// process uses.
  static func helpers(besideProgram program: String, runtime: String?) -> [String] {
    let folder = "libexec/swift/linux"
    let prefix = parent(parent(program))
    var found = ["\(prefix)/\(folder)/swift-backtrace-static"]
    // PREFIX/lib/swift/linux/libswiftCore.so
    if let runtime { found.append("\(parent(parent(parent(parent(runtime)))))/\(folder)/swift-backtrace") }
    return found
  }

  private static func parent(_ path: String) -> String { (path as NSString).deletingLastPathComponent }

  /// The file of the Swift runtime; nil if it is linked into the program.
  private static func runtimePath() -> String? {
    let maps = String(decoding: ProcessArguments.contents(of: "/proc/self/maps"), as: UTF8.self)
    guard let line = maps.split(separator: "\n").first(where: { $0.hasSuffix("/libswiftCore.so") }) else { return nil }
    return line.firstIndex(of: "/").map { String(line[$0...]) }
  }
}
