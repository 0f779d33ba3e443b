#if canImport(Glibc)
  internal import CMalloc
#endif

/// Tunes the C library's allocator for a service with many threads.
enum Allocator {
  /// glibc's variable of tuning, which it reads before `main`.
  static let variable = "GLIBC_TUNABLES"

  /// Two arenas, as `shareArenas` sets them, and more room in each thread's cache of free blocks: 512 of each size instead of 7.
  ///
  /// A transaction's rows and outputs are made one by one and released together. Blocks that a thread's cache does not take are merged with
  /// their neighbours, and split again for the next transaction.
  static let tunables = "glibc.malloc.arena_max=2:glibc.malloc.tcache_count=512"

  /// The variable that a program started without it needs; nil if the operator tunes glibc, or with another C library.
  static func setting(environment: [String: String]) -> ProgramRestart.Variable? {
    #if canImport(Glibc)
      guard !isTuned(environment) else { return nil }
      return ProgramRestart.Variable(name: variable, value: tunables)
    #else
      return nil
    #endif
  }

  private static func isTuned(_ environment: [String: String]) -> Bool {
    environment.keys.contains { $0.hasPrefix("MALLOC_") || $0 == variable }
  }

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
      guard !isTuned(environment) else { return false }
      return mallopt(M_ARENA_MAX, 2) == 1
    #else
      return false
    #endif
  }
}
