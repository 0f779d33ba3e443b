import Foundation
import TestSupport
import Testing

/// The module cannot be built for Apple's systems here, so its sources are searched for what iOS 15 does not have.
@Suite("NudgeClient keeps to Foundation and iOS 15")
struct PlatformTests {
  /// Patterns of names that iOS 15 or Foundation lacks, each with a line that it must find.
  private static let forbidden: [(pattern: String, example: String)] = [
    (
      #"^\s*((public|package|internal|private|fileprivate|@preconcurrency|@testable)\s+)*import\s+(?!Foundation\s*$)"#,
      "internal import Synchronization"
    ),
    (#"\b(Mutex|Atomic|OSAllocatedUnfairLock)\b"#, "let lock = Mutex(0)"),
    (#"\b(ContinuousClock|SuspendingClock|InstantProtocol|Duration)\b"#, "let clock = ContinuousClock()"),
    (#"\.sleep\((for|until):"#, "try await Task.sleep(for: wait)"),
    (#"\bRegex\b|#/|try\s+/|\.(firstMatch|wholeMatch|prefixMatch|matches)\(of:"#, "text.firstMatch(of: pattern)"),
    (#"URL\(filePath:|\.appending\(path|\.appending\(component|\.path\(|\.host\("#, "url.appending(path: \"x\")"),
    (#"\bany\s+\w+<"#, "let values: any Sequence<Int>"),
    (#"#if\s+(os|canImport)"#, "#if os(Linux)"),
    (#"@Observable\b|\bObservation\b|#Predicate\b|\bDiscardingTaskGroup\b"#, "@Observable final class Model {}"),
    (#"\b(UInt128|Int128|InlineArray|Span|RawSpan)\b"#, "let big: UInt128 = 0"),
    (#"\.(replacing|split|contains|ranges|trimmingPrefix)\((separator: \"|\"[^\"]{2,}\"\))"#, "text.contains(\"ab\")"),
  ]

  @Test("Each search finds what it is for", arguments: forbidden.indices)
  func searches(index: Int) throws {
    let (pattern, example) = Self.forbidden[index]
    #expect(example.range(of: pattern, options: .regularExpression) != nil, "\(example)")
  }

  @Test("The sources have none of it")
  func sources() throws {
    let folder = Repository.file("Sources/Contract/NudgeClient")
    let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
      .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
    #expect(files.count > 10)
    for file in files {
      let lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
      for (number, line) in lines.enumerated() where !line.trimmingCharacters(in: .whitespaces).hasPrefix("//") {
        for (pattern, _) in Self.forbidden {
          #expect(
            line.range(of: pattern, options: .regularExpression) == nil,
            "\(file.lastPathComponent):\(number + 1): \(line)")
        }
      }
    }
  }
}
