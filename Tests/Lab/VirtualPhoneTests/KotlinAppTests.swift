import Foundation
import TestSupport
import Testing

/// The Kotlin of `Schemas/app/android`, compiled with Debian's compiler.
@Suite(
  "C1, C9, C10: Schemas/app in Kotlin", .serialized, .timeLimit(.minutes(3)),
  .enabled(if: KotlinTools.missing == nil, "\(KotlinTools.missing ?? "")"))
struct KotlinAppTests {
  private static let folder = Repository.file("Schemas/app")

  private func run(_ program: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
    let directory = try TemporaryDirectory()
    let file = directory.path + "/output"
    try Data().write(to: URL(fileURLWithPath: file))
    let output = try #require(FileHandle(forWritingAtPath: file))
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.standardOutput = output
    process.standardError = output
    try process.run()
    process.waitUntilExit()
    return (process.terminationStatus, try String(contentsOfFile: file, encoding: .utf8))
  }

  private func source(_ name: String) -> String { Self.folder.appendingPathComponent("android/\(name)").path }

  @Test("every vector of pushes, banners, badge and ids")
  func vectors() throws {
    let directory = try TemporaryDirectory()
    let program = directory.path + "/vectors.jar"
    let (status, errors) = try run(
      KotlinTools.compiler,
      [source("Nudge.kt"), source("Vectors.kt"), "-cp", KotlinTools.json, "-include-runtime", "-d", program])
    #expect(status == 0, "\(errors)")
    let result = try run(
      "/usr/bin/java", ["-cp", "\(program):\(KotlinTools.json)", "nudge.VectorsKt", Self.folder.path])
    let line = try #require(result.output.wholeMatch(of: /([0-9]+) compared, 0 differ\n/), "\(result.output)")
    #expect((Int(line.1) ?? 0) > 100)
  }

  @Test("the receiving class compiles against stand-ins of Android's types")
  func receivingClass() throws {
    let directory = try TemporaryDirectory()
    let standIns = try FileManager.default.contentsOfDirectory(atPath: source("stand-ins"))
    let (status, errors) = try run(
      KotlinTools.compiler,
      ["-nowarn", source("Nudge.kt"), source("NudgeMessages.kt")] + standIns.map { source("stand-ins/\($0)") }
        + ["-d", directory.path + "/app.jar"])
    #expect(status == 0, "\(errors)")
  }
}

/// Debian's Kotlin, and the JSON of Android.
private enum KotlinTools {
  static let compiler = "/usr/bin/kotlinc"
  static let json = "/usr/share/java/com.android.json.jar"

  /// Why it cannot run here, with the fix; absent where it can.
  static let missing: String? =
    [compiler, json].allSatisfy { FileManager.default.fileExists(atPath: $0) }
    ? nil : "no Kotlin was found: apt-get install kotlin libandroid-json-java"
}
