#if canImport(Glibc)
  import CMalloc
  import Foundation
  import Testing

  @testable import ServiceKit

  @Suite("The C library's allocator")
  struct AllocatorTests {
    @Test("a block as large as one that was freed before is mapped by itself, and given back")
    func largeBlocksAreGivenBack() {
      #expect(Allocator.keepSmall(environment: [:]))
      // The first one freed raises the limit to its size, where that is not fixed.
      free(malloc(1 << 20))
      let before = mallinfo2().hblkhd
      let block = malloc(1 << 20)
      #expect(mallinfo2().hblkhd >= before + 1 << 20)
      free(block)
      #expect(mallinfo2().hblkhd <= before)
    }

    @Test("what the operator has set stays", arguments: ["MALLOC_ARENA_MAX", "GLIBC_TUNABLES"])
    func operatorsChoiceStays(name: String) {
      #expect(!Allocator.keepSmall(environment: [name: "4"]))
    }
  }
#endif
