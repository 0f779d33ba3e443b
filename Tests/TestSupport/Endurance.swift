import Dispatch
import Foundation

/// Runs work far more often than other tests do, and measures its memory.
public enum Endurance {
  /// The growth of the resident memory that is no leak, in bytes: what the allocator may keep. AddressSanitizer keeps 256 MiB of freed
  /// blocks, each with its red zones, to find their later use.
  public static let tolerance = dlsym(nil, "__asan_init") == nil ? 16 << 20 : 512 << 20

  /// Runs `body` on a thread with a stack as small as Foundation's (512 kB), waits for its end, and returns the growth of the process's
  /// resident memory in bytes.
  ///
  /// A call chain that grows with each round overflows that stack, and the process dies.
  public static func residentGrowth(of body: @escaping @Sendable () -> Void) -> Int {
    let ended = DispatchSemaphore(value: 0)
    let before = residentBytes()
    let thread = Thread {
      body()
      ended.signal()
    }
    thread.stackSize = 512 << 10
    thread.start()
    ended.wait()
    return residentBytes() - before
  }

  /// The process's resident memory in bytes, from `/proc/self/statm`; 0 where there is none.
  public static func residentBytes() -> Int {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
    let fields = text.split(separator: " ")
    guard fields.count > 1, let pages = Int(fields[1]) else { return 0 }
    return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
  }
}
