#if canImport(Glibc)
  internal import CMalloc
#endif

/// Tunes the C library's allocator for a service with many threads.
enum Allocator {
  /// Limits the number of arenas, so that threads share free memory. Call it before other threads are started.
  ///
  /// glibc gives each of a service's twenty threads an arena (up to eight a core). With two, the services use 2 to 30 MB less memory and no
  /// more CPU (docs/benchmarks.md). Fixing the mmap threshold too would save another 10 to 25 MB but cost a fifth of the analyzer's
  /// decisions a CPU second.
  ///
  /// Does nothing if the operator tunes glibc (`MALLOC_…`, `GLIBC_TUNABLES`), or with another C library.
  /// - Returns: Whether the limit was set.
  @discardableResult
  static func shareArenas(environment: [String: String]) -> Bool {
    #if canImport(Glibc)
      guard !environment.keys.contains(where: { $0.hasPrefix("MALLOC_") || $0 == "GLIBC_TUNABLES" }) else {
        return false
      }
      return mallopt(M_ARENA_MAX, 2) == 1
    #else
      return false
    #endif
  }
}
