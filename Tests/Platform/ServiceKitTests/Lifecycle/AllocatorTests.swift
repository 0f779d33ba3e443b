#if canImport(Glibc)
  import CMalloc
  import Foundation
  import Testing

  @testable import ServiceKit

  @Suite("The C library's allocator")
  struct AllocatorTests {
    @Test("threads share two arenas")
    func arenas() throws {
      #expect(Allocator.shareArenas(environment: [:]))
      // Threads that all hold memory at once would each have an arena. Arenas from before the setting stay.
      let before = try arenaCount()
      let ready = DispatchSemaphore(value: 0)
      let go = DispatchSemaphore(value: 0)
      let done = DispatchSemaphore(value: 0)
      for _ in 0..<8 {
        Thread {
          let block = malloc(1000)
          ready.signal()
          go.wait()
          free(block)
          done.signal()
        }.start()
      }
      for _ in 0..<8 { ready.wait() }
      #expect(try arenaCount() <= max(before, 2))
      for _ in 0..<8 { go.signal() }
      for _ in 0..<8 { done.wait() }
    }

    /// As glibc's own report says.
    private func arenaCount() throws -> Int {
      var text: UnsafeMutablePointer<CChar>?
      var size = 0
      let file = try #require(open_memstream(&text, &size))
      #expect(malloc_info(0, file) == 0)
      fclose(file)
      defer { free(text) }
      return String(cString: try #require(text)).components(separatedBy: "<heap nr=").count - 1
    }

    @Test("the operator's setting stays", arguments: ["MALLOC_ARENA_MAX", "GLIBC_TUNABLES"])
    func operatorsChoiceStays(name: String) {
      #expect(!Allocator.shareArenas(environment: [name: "4"]))
    }
  }
#endif
