/// A part of a process that is started and stopped: a server, a group of stream threads.
public protocol Service: Sendable {
  /// The name in logs.
  var name: String { get }

  /// Starts the service and returns once it runs. A service that ends by itself calls `onEnd` once, from any thread; the whole group ends then.
  func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) throws

  /// Completes pending work and ends the service. Also called if `start` of a later service failed, but not if its own did.
  func stop()

  /// Like `stop`, for an instance that will not be started again under its name: also gives up what it would keep for a restart, such as its group membership.
  func retire()
}

extension Service {
  /// For services that keep nothing for a restart.
  public func retire() { stop() }
}

/// A service that reads files again on SIGHUP.
public protocol ReloadingService: Service {
  /// Reads the files again. Must return soon: other signals wait meanwhile.
  func reload()
}

/// Why a service ended by itself.
public struct ServiceEnd: Sendable, Equatable {
  /// The exit code of the process.
  public let exitCode: Int32
  /// For the log: what happened and what to do.
  public let reason: String

  /// An end with the process's exit code and a reason for a person.
  public init(exitCode: Int32, reason: String) {
    self.exitCode = exitCode
    self.reason = reason
  }
}
