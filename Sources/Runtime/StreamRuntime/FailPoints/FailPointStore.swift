#if DEBUG
  import NudgeSchema

  /// Wraps a task's store, and dies, stalls or fails before writes.
  final class FailPointStore<Base: TaskStore>: TaskStore {
    private let base: Base
    private let points: FailPoints

    init(_ base: Base, _ points: FailPoints) {
      self.base = base
      self.points = points
    }

    var header: StoreHeader? { base.header }

    func read(_ key: RowKey, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
      try base.read(key, body)
    }

    func rows(
      from first: RowKey, to end: RowKey, limit: Int, _ body: (RowKey, UnsafeRawBufferPointer) throws -> Void
    ) throws {
      try base.rows(from: first, to: end, limit: limit, body)
    }

    func apply(_ rows: [(key: RowKey, bytes: [UInt8]?)], header: StoreHeader?) throws(StoreFailure) {
      if points.reach(.storeWrite) {
        throw StoreFailure(operation: "write", reason: "fail-point \(FailPoint.storeWrite.rawValue)")
      }
      try base.apply(rows, header: header)
    }

    func wipe() throws(StoreFailure) { try base.wipe() }

    func close() { base.close() }
  }
#endif
