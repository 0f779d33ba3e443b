#if canImport(Glibc)
  internal import CMalloc
#endif

/// Tunes the C library's allocator for a service with many threads.
enum Allocator {
  /// glibc reads these before `main`: two arenas, as `shareArenas` sets them, and 256 free pieces of a size for each thread instead of seven.
  ///
  /// A decision makes and frees some hundred pieces, and a transaction some thousand at once. Those beyond seven of a size go through the
  /// arena, which joins and splits them, for 5 to 8 % of a service's CPU.
  static let tunables = "glibc.malloc.arena_max=2:glibc.malloc.tcache_count=256"

  /// The variable to set; nil: the operator tunes glibc, or another C library is used.
  static func variable(environment: [String: String]) -> (name: String, value: String)? {
    #if canImport(Glibc)
      isTuned(environment) ? nil : ("GLIBC_TUNABLES", tunables)
    #else
      nil
    #endif
  }

  private static func isTuned(_ environment: [String: String]) -> Bool {
    environment.keys.contains { $0.hasPrefix("MALLOC_") || $0 == "GLIBC_TUNABLES" }
  }

  /// Limits the number of arenas, so that threads share free memory. Call it before other threads are started.
  ///
  /// glibc gives each of a service's twenty threads an arena (up to eight a core). With two, the services use 2 to 30 MB less memory and no
  /// more CPU (docs/benchmarks.md). Fixing the mmap threshold too would save another 10 to 25 MB but cost a fifth of the analyzer's
  /// decisions a CPU second.
  ///
  /// Does nothing if glibc is tuned (`MALLOC_…`, `GLIBC_TUNABLES`), by the operator or by `variable`, or with another C library.
  /// - Returns: Whether the limit was set.
  @discardableResult
  static func shareArenas(environment: [String: String]) -> Bool {
    #if canImport(Glibc)
      guard !isTuned(environment) else { return false }
      return mallopt(M_ARENA_MAX, 2) == 1
    #else
      return false
    #endif
  }
}
