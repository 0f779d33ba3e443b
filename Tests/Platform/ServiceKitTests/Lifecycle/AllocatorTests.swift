import Foundation
import Testing

@Suite("The programs' allocator")
struct AllocatorTests {
  @Test(
    "is jemalloc with the settings of CAllocator, and the operator's come after them",
    .enabled(if: BuiltService.path != nil, BuiltService.missing))
  func settings() throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(BuiltService.path))
    process.arguments = ["--version"]
    // jemalloc reports each setting that it reads, in their order.
    process.environment = ["PATH": "/usr/bin:/bin", "MALLOC_CONF": "confirm_conf:true,dirty_decay_ms:777"]
    let errors = Pipe()
    process.standardError = errors
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let set = text.split(separator: "\n").filter { $0.contains("Set conf value: ") }
    #expect(set.contains { $0.hasSuffix("narenas:2") }, "\(text)")
    #expect(set.last { $0.contains("dirty_decay_ms:") }?.hasSuffix("dirty_decay_ms:777") == true, "\(text)")
  }
}
