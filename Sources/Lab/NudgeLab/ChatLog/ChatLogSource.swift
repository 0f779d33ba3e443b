/// The source of a load's messages. Opening it again gives the same messages in the same order.
enum ChatLogSource: Sendable, Equatable {
  /// A file of JSON lines, plain or gzip.
  case file(String)
  /// A log generated from a seed, with this many groups.
  case generated(seed: UInt64, groups: Int = GeneratedChatLog.defaultGroups)

  func open() throws(ChatLogError) -> any ChatMessages {
    switch self {
    case .file(let path): InterleavedChatLog(try ChatLogFile(path: path))
    case .generated(let seed, let groups): GeneratedChatLog(seed: seed, groups: groups)
    }
  }

  /// The file's path, or the words for the built-in log.
  var name: String {
    switch self {
    case .file(let path): path
    case .generated(let seed, let groups): "built in (seed \(seed), \(groups) groups)"
    }
  }
}
