#if canImport(Glibc)
  internal import CMalloc
#endif

/// The C library's allocator, as a service with many threads needs it.
enum Allocator {
  /// Keeps threads from each holding free memory of its own; before other threads are started.
  ///
  /// glibc gives each of a service's twenty threads an arena (up to eight a core). With two, the services take 2 to 30 MB less at no
  /// more CPU (docs/benchmarks.md). To fix the size from which blocks are mapped as well saves 10 to 25 MB more, and was not taken:
  /// it costs a fifth of the analyzer's decisions a CPU second.
  ///
  /// Does nothing where the operator tunes glibc (`MALLOC_…`, `GLIBC_TUNABLES`), or where the C library is another.
  /// - Returns: whether it was set so.
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
