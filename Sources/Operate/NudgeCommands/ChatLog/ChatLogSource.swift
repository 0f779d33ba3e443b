/// Where the messages of a load come from. Opening it again gives the same messages in the same order.
enum ChatLogSource: Sendable, Equatable {
  /// A file of JSON lines, plain or gzip.
  case file(String)
  /// A log the project makes itself, from a seed, with so many groups.
  case generated(seed: UInt64, groups: Int = GeneratedChatLog.defaultGroups)

  /// The messages from the first on.
  func open() throws(ChatLogError) -> any ChatMessages {
    switch self {
    case .file(let path): InterleavedChatLog(try ChatLogFile(path: path))
    case .generated(let seed, let groups): GeneratedChatLog(seed: seed, groups: groups)
    }
  }

  /// For a person: the file, or that it is the built-in one.
  var name: String {
    switch self {
    case .file(let path): path
    case .generated(let seed, let groups): "built in (seed \(seed), \(groups) groups)"
    }
  }
}
