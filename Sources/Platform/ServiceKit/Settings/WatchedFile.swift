import Foundation
import Glibc

/// A file that is read again after it has changed.
///
/// While a file is written in place, it is first empty and then incomplete. So a change counts only once the file
/// looked the same in two successive calls, is not empty, and did not change while it was read. Call
/// ``changed(force:)`` at an interval longer than any pause of the program that writes the file.
public struct WatchedFile: Sendable, Equatable {
  /// Distinguishes the states of a file. Without an inode the file does not exist.
  private struct Stamp: Sendable, Equatable {
    var inode: UInt?
    var size = 0
    var seconds = 0
    var nanoseconds = 0
  }

  public let path: String
  /// The state at the last reading, successful or not.
  private var taken: Stamp?
  /// The state at the last call, if it had changed by then.
  private var pending: Stamp?

  /// A file that has not been read yet.
  public init(path: String) { self.path = path }

  /// The content if the file has changed since the last reading and is complete; nil otherwise.
  /// - Parameter force: Reads the file now, whether or not it has changed.
  /// - Throws: ``FileFailure``, which names the file, once for each change, if the file cannot be read or is empty.
  public mutating func changed(force: Bool) throws -> [UInt8]? {
    let now = Self.stamp(of: path)
    if !force {
      guard now != taken else {
        pending = nil
        return nil
      }
      guard now == pending else {
        pending = now
        return nil
      }
    }
    pending = nil
    taken = now
    let content = try FileContent.read(path)
    if content.isEmpty { throw FileFailure(description: "\(path) is empty") }
    let after = Self.stamp(of: path)
    guard force || after == now else {
      taken = nil
      pending = after
      return nil
    }
    return content
  }

  private static func stamp(of path: String) -> Stamp {
    var found = stat()
    guard stat(path, &found) == 0 else { return Stamp() }
    return Stamp(
      inode: UInt(found.st_ino), size: Int(found.st_size), seconds: found.st_mtim.tv_sec,
      nanoseconds: found.st_mtim.tv_nsec)
  }
}

/// Whole files, for configuration and keys.
public enum FileContent {
  /// The bytes of a file.
  /// - Throws: ``FileFailure``, which names the file.
  public static func read(_ path: String) throws -> [UInt8] {
    do {
      return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    } catch {
      throw FileFailure(description: "\(path) cannot be read: \(reason(path, error))")
    }
  }

  /// Why a file cannot be read, in the system's words. Foundation's texts for some of these errors are only numbers.
  /// - Parameter error: The error that Foundation gave, if it did.
  public static func reason(_ path: String, _ error: (any Error)? = nil) -> String {
    let descriptor = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return String(cString: strerror(errno)) }
    defer { close(descriptor) }
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return "it is a folder, not a file" }
    return (error as NSError?)?.localizedDescription ?? "it is not readable"
  }
}

/// A file could not be read.
public struct FileFailure: Error, CustomStringConvertible {
  /// The file and the reason in one line.
  public let description: String
}

/// A value in a configuration file.
enum ConfigurationValue: Decodable {
  case text(String)
  case list([ConfigurationValue])
  case object([String: ConfigurationValue])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let flag = try? container.decode(Bool.self) {
      self = .text(String(flag))
    } else if let number = try? container.decode(Int.self) {
      self = .text(String(number))
    } else if let number = try? container.decode(Double.self) {
      self = .text(number.settingText)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let list = try? container.decode([ConfigurationValue].self) {
      self = .list(list)
    } else {
      self = .object(try container.decode([String: ConfigurationValue].self))
    }
  }

  /// The texts to parse: one per entry of a repeated setting, one text with commas for a list. Nil if the kind of value
  /// does not fit.
  func texts(repeated: Bool) -> [String]? {
    switch self {
    case .text(let text): return [text]
    case .list(let elements):
      var texts: [String] = []
      for element in elements {
        guard case .text(let text) = element else { return nil }
        texts.append(text)
      }
      return repeated ? texts : [texts.joined(separator: ",")]
    case .object(let entries):
      guard repeated else { return nil }
      var texts: [String] = []
      for (name, entry) in entries.sorted(by: { $0.key < $1.key }) {
        guard case .text(let text) = entry else { return nil }
        texts.append("\(name)=\(text)")
      }
      return texts
    }
  }
}
