import Foundation
import ServiceKit

/// The files of `--fcm-credentials`, which are read again when they change.
struct AccountFiles {
  private var files: [WatchedFile]
  /// A file that could not be used was already reported with this reason.
  private var failures: [String: String] = [:]

  /// A file that has changed.
  enum Change {
    case account(ServiceAccount, path: String)
    case unusable(path: String, reason: String)
  }

  init(paths: [String]) { files = paths.map { WatchedFile(path: $0) } }

  /// The files as they are now count as read.
  mutating func markRead() {
    for index in files.indices { _ = try? files[index].changed(force: true) }
  }

  /// The files that have changed since the last call, each as an account or with the reason why it cannot be used.
  mutating func changes() -> [Change] {
    var changes: [Change] = []
    for index in files.indices {
      let path = files[index].path
      do {
        guard let contents = try files[index].changed(force: failures[path] != nil) else { continue }
        changes.append(.account(try ServiceAccount(contents: Data(contents), name: path), path: path))
        failures[path] = nil
      } catch {
        let reason = "\(error)"
        // A file that stays unusable is tried again, and reported once.
        if failures.updateValue(reason, forKey: path) != reason {
          changes.append(.unusable(path: path, reason: reason))
        }
      }
    }
    return changes
  }
}
