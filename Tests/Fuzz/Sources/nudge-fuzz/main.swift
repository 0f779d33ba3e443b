import CFuzzer
import Foundation

/// One thread uses it: libFuzzer's.
nonisolated(unsafe) let inputs: HTTPInputs = {
  let directory = FileManager.default.temporaryDirectory.appendingPathComponent("nudge-fuzz-\(getpid())").path
  do {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    return try HTTPInputs(directory: directory)
  } catch {
    print("\(error)")
    exit(1)
  }
}()

var argumentCount = CommandLine.argc
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
exit(
  LLVMFuzzerRunDriver(&argumentCount, &arguments) { data, size in
    let input = Array(UnsafeBufferPointer(start: data, count: size))
    guard let violation = inputs.violation(of: input) ?? AnswerInputs.violation(of: input) else { return 0 }
    FileHandle.standardError.write(Data("broken rule: \(violation)\n".utf8))
    // libFuzzer keeps the input that a crash comes from.
    abort()
  })
