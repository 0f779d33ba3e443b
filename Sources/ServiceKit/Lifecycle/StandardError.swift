import Foundation

/// Standard error, for what a person who started a program is to read.
public enum StandardError {
  /// Writes a text and a newline.
  @Sendable public static func write(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
}
