import ServiceKit
import Synchronization
import WebPush

/// The files of `--vapid-key` as a service: read again when they change, so that keys are rotated without a restart.
final class VAPIDKeyFiles: Service {
  private struct State {
    var files: [WatchedFile]
    /// In use.
    var publicKeys: [String]
    /// Reported already; nil: the files are in use.
    var fault: String?
  }

  let name = "vapid keys"
  private let paths: [String]
  private let log: Logger
  private let use: @Sendable ([VAPIDKey]) -> Void
  private let state: Mutex<State>
  /// Checks the files for changes.
  private let timer = RepeatingTimer("vapid-keys", every: .seconds(5))

  /// - Parameters:
  ///   - files: as they were before `keys` were read from them.
  ///   - use: takes the keys that are used from then on.
  init(files: [WatchedFile], keys: [VAPIDKey], log: Logger, use: @escaping @Sendable ([VAPIDKey]) -> Void) {
    paths = files.map(\.path)
    self.log = log
    self.use = use
    state = Mutex(State(files: files, publicKeys: keys.map(\.publicKey)))
  }

  /// Files that count as read as they are now.
  static func watched(_ paths: [String]) -> [WatchedFile] {
    paths.map { path in
      var file = WatchedFile(path: path)
      _ = try? file.changed(force: true)
      return file
    }
  }

  func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) {
    timer.start { [weak self] in self?.reload() }
  }

  /// Uses the keys of the files if one has changed. Files that cannot be used change nothing.
  func reload() {
    state.withLock { state in
      var hasChanged = state.fault != nil
      for index in state.files.indices {
        // A file that cannot be read has changed, too.
        do { if try state.files[index].changed(force: false) != nil { hasChanged = true } } catch { hasChanged = true }
      }
      guard hasChanged else { return }
      do throws(VAPIDKey.Invalid) {
        let keys = try VAPIDKey.keys(inFiles: paths)
        state.fault = nil
        let publicKeys = keys.map(\.publicKey)
        guard publicKeys != state.publicKeys else { return }
        state.publicKeys = publicKeys
        use(keys)
        log.notice("VAPID keys were read again", ["keys": .string(publicKeys.joined(separator: ", "))])
      } catch {
        let fault = error.description
        guard state.fault != fault else { return }
        state.fault = fault
        log.error("VAPID keys cannot be read again; the former ones stay in use", ["reason": .string(fault)])
      }
    }
  }

  func stop() { timer.stop() }
}
