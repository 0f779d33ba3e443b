@testable import NudgeLab

/// The faults of a run and their times. A value made from a seed alone: the same seed makes the same schedule.
struct ChaosSchedule: Equatable, Sendable {
  /// The session time-out of the services' groups, in milliseconds. Stops and cuts last longer.
  static let sessionTimeout = 8_000

  /// An instance of a service.
  struct Target: Hashable, Sendable, CustomStringConvertible {
    var service: DemoProgram
    /// From 1.
    var slot: Int
    var description: String { "\(service.shortName) \(slot)" }
  }

  /// Which of two builds of the services an instance runs.
  enum Build: String, Sendable {
    case first, second

    var other: Build { self == .first ? .second : .first }
  }

  /// One step of a fault.
  enum Action: Equatable, Sendable {
    /// SIGKILL; the supervisor starts it again.
    case kill(Target, losingState: Bool)
    /// SIGSTOP.
    case suspend(Target)
    /// SIGCONT.
    case resume(Target)
    /// SIGTERM or SIGKILL.
    case stopBroker(cleanly: Bool)
    case startBroker
    /// SIGSTOP, for longer than a transaction may be open.
    case pauseBroker
    /// SIGCONT.
    case resumeBroker
    /// Limits how much each client may produce; nil: no limit.
    case setQuota(bytesPerSecond: Int?)
    /// Deletes the topic of banners, which no stage reads, and creates it again.
    case remakeTopic
    /// Nobody may write to a topic of this service's outputs.
    case revokeRights(DemoProgram)
    case giveBackRights(DemoProgram)
    /// A second producer publishes huge and hostile records.
    case publishHostile
    /// SIGTERM to one instance after the other; the next when the one before is ready again.
    case rollingRestart(DemoProgram)
    /// A rolling restart in which each instance comes back as another build.
    case roll(DemoProgram, to: Build)
    /// Sets an instance's wall clock ahead (or back) by this many seconds; 0: right again.
    case setClock(Target, ahead: Int)
    case fillDisk(Target)
    case emptyDisk(Target)
    /// Kills it and makes its store read-only before the restart.
    case protectStore(Target)
    case unprotectStore(Target)
    /// Kills it and overwrites pages of its stores before the restart.
    case damageStore(Target)
    /// Starts instances, or ends surplus ones with SIGTERM.
    case scale(DemoProgram, to: Int)
    /// Each byte between it and the broker takes this much longer, each way.
    case delay(Target, milliseconds: Int)
    /// Nothing gets through between it and the broker.
    case cut(Target)
    /// Requests to this coordinator do not get through; all others do.
    case cutCoordinator(Target, KafkaCoordinator)
    /// Its requests do not get through, or the answers to them.
    case cutOneWay(Target, without: ChaosProxy.Way)
    /// One of the brokers, by its number modulo theirs, cannot be reached.
    case cutFromOne(Target, broker: Int)
    /// Its connections of now carry nothing any more, and it is not told; new ones work.
    case silence(Target)
    /// Ends a delay or a cut. The held bytes arrive, or their connections are closed.
    case mend(Target, dropping: Bool)
  }

  struct Entry: Equatable, Sendable {
    /// Milliseconds since the load began.
    var at: Int
    var action: Action
  }

  /// How far any clock of an analyzer is ahead at most, in seconds. Analyzers wait until a time of their clock.
  var fastestAnalyzer: Int {
    entries.map { entry in
      guard case .setClock(let target, let ahead) = entry.action, target.service == .analyzer else { return 0 }
      return ahead
    }.max() ?? 0
  }

  /// A kind of trouble: one action or several.
  enum Fault: String, CaseIterable, Sendable {
    case kill, killLosingState, suspend, brokerRestart, brokerKill, rollingRestart, diskFull, readOnlyStore, scale,
      delay
    case cut, cutOneWay, cutFromOne, connectionsDie, coordinatorAway, brokerPause, rightsRevoked, hostileRecords
    case brokerAway, brokerQuota, topicRemade, rollingUpgrade, rollback, clockJump, storeDamaged
  }

  /// How long an instance whose connections died may take until it works again, in milliseconds.
  static let silence = 12_000
  /// How long a broker is paused, in milliseconds: longer than a transaction may be open (5 s).
  static let pause = 8_000
  /// How long a broker is away in `brokerAway`, in milliseconds: longer than any session.
  static let absence = 35_000
  /// How long a started broker takes until it serves, at most, in milliseconds.
  static let brokerStart = 13_000

  /// In the order of their times.
  let entries: [Entry]
  /// How often each fault occurs.
  let faults: [Fault: Int]

  /// Draws a schedule.
  ///
  /// - Parameters:
  ///   - duration: when everything is healed, in milliseconds.
  ///   - instances: of each service, from 2. The first has the proxy; the others have a disk of their own to fill, and the second
  ///     a clock of its own.
  ///   - kinds: the kinds of trouble; empty: all.
  init(seed: UInt64, duration: Int, instances: Int, only kinds: [Fault] = []) {
    var draft = ChaosDraft(seed: seed, duration: duration, instances: instances, only: kinds)
    draft.draw()
    entries = draft.entries.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
      .map(\.element)
    faults = draft.faults
  }
}

extension ChaosSchedule: CustomStringConvertible {
  var description: String {
    entries.map { "\(Double($0.at) / 1_000) s \($0.action)" }.joined(separator: "\n")
  }
}

extension ChaosSchedule.Action: CustomStringConvertible {
  var description: String {
    switch self {
    case .kill(let target, let losingState): "kill \(target)\(losingState ? ", its state is lost" : "")"
    case .suspend(let target): "suspend \(target)"
    case .resume(let target): "resume \(target)"
    case .stopBroker(let cleanly): cleanly ? "stop the broker" : "kill the broker"
    case .startBroker: "start the broker"
    case .pauseBroker: "pause the broker"
    case .resumeBroker: "resume the broker"
    case .setQuota(let bytes): bytes.map { "limit each client to \($0) bytes/s" } ?? "lift the limit of clients"
    case .remakeTopic: "delete the topic of banners and create it again"
    case .revokeRights(let service): "take the right to write from \(service.shortName)"
    case .giveBackRights(let service): "give the right to write back to \(service.shortName)"
    case .publishHostile: "publish huge and hostile records"
    case .rollingRestart(let service): "rolling restart of \(service.shortName)"
    case .roll(let service, let build): "rolling restart of \(service.shortName) to the \(build.rawValue) build"
    case .setClock(let target, let seconds): "set the clock of \(target) ahead by \(seconds) s"
    case .fillDisk(let target): "fill the disk of \(target)"
    case .emptyDisk(let target): "empty the disk of \(target)"
    case .protectStore(let target): "make the store of \(target) read-only"
    case .unprotectStore(let target): "make the store of \(target) writable"
    case .damageStore(let target): "damage the store of \(target)"
    case .scale(let service, let count): "scale \(service.shortName) to \(count)"
    case .delay(let target, let milliseconds): "delay \(target) by \(milliseconds) ms"
    case .cut(let target): "cut \(target) off"
    case .cutOneWay(let target, let way): "cut \(target) off one way: no \(way.rawValue) pass"
    case .cutFromOne(let target, let broker): "cut \(target) off from broker number \(broker) modulo theirs"
    case .silence(let target): "let the connections of \(target) die in silence"
    case .cutCoordinator(let target, let coordinator): "cut \(target) off from its coordinator of \(coordinator)"
    case .mend(let target, let dropping):
      "mend \(target), \(dropping ? "dropping" : "delivering") what was on its way"
    }
  }
}
