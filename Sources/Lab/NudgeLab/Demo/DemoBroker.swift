import Foundation
import Glibc
import Kafka
import NudgeCommands
import NudgeSchema
import ServiceKit
import StreamRuntime

/// A demo's broker: embedded, started for the demo, or already running.
final class DemoBroker {
  let bootstrapServers: String
  let topics: TopicNames
  /// The name on the display.
  let name: String
  /// Whether records of aborted transactions are visible, as on the embedded broker, which has no isolation.
  let seesAborted: Bool
  /// Whether every topic is new.
  private(set) var areTopicsNew = true
  private let properties: [ClientConfiguration.Property]
  private let embedded: EmbeddedBroker?
  private let local: LocalBroker?
  private let deletesTopics: Bool

  /// Starts the broker unless it runs already. `run` is part of the topics' names on a shared broker.
  convenience init(_ options: DemoOptions, directory: URL, run: String) throws {
    try self.init(
      options.broker, properties: options.kafkaProperties, topicPrefix: options.topicPrefix, keepsTopics: options.keep,
      directory: directory, run: run)
  }

  /// Starts the broker unless it runs already.
  /// - Parameters:
  ///   - topicPrefix: The topics' prefix. Absent: none, or one made from `run` on a shared broker.
  ///   - keepsTopics: Whether `close` keeps topics that were made from `run` on a shared broker.
  init(
    _ broker: DemoOptions.Broker, properties: [String: String] = [:], topicPrefix: String? = nil,
    keepsTopics: Bool = false, directory: URL, run: String
  ) throws {
    var properties = ClientConfiguration.inOrder(properties)
    switch broker {
    case .embedded:
      let broker = try EmbeddedBroker()
      // Must precede the first connection. Without it, the broker is slower but correct.
      _ = PromptAnswers.turnOn(for: broker.bootstrapServers)
      // The mock broker answers a waiting fetch when the wait ends, not when a record arrives.
      properties.insert(("fetch.wait.max.ms", "5"), at: 0)
      (embedded, local) = (broker, nil)
      bootstrapServers = broker.bootstrapServers
      name = "embedded broker"
    case .local(let home):
      let broker = try LocalBroker(
        home: URL(fileURLWithPath: home), directory: directory.appendingPathComponent("kafka"))
      try broker.start()
      (embedded, local) = (nil, broker)
      bootstrapServers = broker.bootstrapServers
      name = "Kafka of \(home)"
    case .running(let servers):
      (embedded, local) = (nil, nil)
      bootstrapServers = servers
      name = "Kafka"
    }
    self.properties = properties
    seesAborted = embedded != nil
    let isShared = embedded == nil && local == nil
    topics = TopicNames(prefix: topicPrefix ?? (isShared ? "nudge-demo-\(run)-" : ""))
    deletesTopics = isShared && topicPrefix == nil && !keepsTopics
  }

  /// How long a command waits for the first answer of a broker.
  private static let patience: Duration = .seconds(6)

  func createTopics(partitions: Int) throws {
    if let embedded { return try TopicCreation.create(on: embedded, names: topics, partitions: partitions) }
    let admin = try admin()
    _ = try admin.topics(within: Self.patience, at: bootstrapServers)
    let report: TopicReport
    do throws(KafkaError) {
      report = try TopicCreation.create(on: admin, names: topics, partitions: partitions)
    } catch {
      throw CommandError(
        "topics could not be created on \(bootstrapServers): \(error); check --kafka-property")
    }
    let wrong = report.topics.filter { !$0.differences.isEmpty }
    guard wrong.isEmpty else {
      throw CommandError(
        "topics differ from their plans:  "
          + wrong.map { "\($0.name): \($0.differences.joined(separator: ", "))" }.joined(separator: "; "))
    }
    areTopicsNew = report.topics.allSatisfy { $0.status == .created }
  }

  /// Adds the broker's properties to a client's configuration.
  func client(_ configuration: ClientConfiguration) -> ClientConfiguration {
    configuration.merging(overrides: properties)
  }

  /// The cluster, for the operator's commands.
  var cluster: ClusterSettings {
    ClusterSettings(
      bootstrapServers: bootstrapServers,
      properties: Dictionary(properties.map { ($0.name, $0.value) }) { $1 }, topics: topics)
  }

  /// Environment variables that pass the properties, which may be secret, to the services.
  var environment: [String: String] {
    var environment: [String: String] = [:]
    for (name, value) in properties {
      environment["NUDGE_KAFKA_" + name.uppercased().replacing(".", with: "_")] = value
    }
    return environment
  }

  private func admin() throws(KafkaError) -> Admin {
    try Admin(client(ClientConfiguration(bootstrapServers: bootstrapServers)), name: "nudge-demo-admin")
  }

  /// Stops a broker that the demo has started. With `isDone`, also deletes the demo's topics on a shared broker. After a failure they stay
  /// for inspection.
  func close(isDone: Bool) throws {
    if isDone, deletesTopics {
      let names = Topic.allCases.map { topics($0) }
      for case .failure(let error) in try admin().deleteTopics(names, timeout: .seconds(30)).values { throw error }
    }
    embedded?.close()
    local?.stop()
  }

  // MARK: The embedded broker's bounds

  /// How many bytes of a partition the embedded broker keeps.
  private static let embeddedPartitionBytes = 5 << 20
  /// The measured size of a decision with all its checks, in bytes. It is the largest record that a recipient causes.
  private static let decisionBytes = 2_600
  /// How many seconds a reader may be behind without losing records.
  private static let embeddedSlack = 5.0

  /// The rate, in messages a second, at which the embedded broker keeps the last `embeddedSlack` seconds of all records.
  static func embeddedRateLimit(members: Int, partitions: Int) -> Double {
    // Half of what an even spread would allow, because people are spread unevenly over the partitions.
    Double(embeddedPartitionBytes * partitions) / 2 / (Double(decisionBytes * max(members - 1, 1)) * embeddedSlack)
  }
}

/// Turns Nagle's algorithm off on the embedded broker's sockets.
///
/// librdkafka's mock cluster leaves it on: an answer that follows another waits until the client's kernel has acknowledged the first, which
/// takes 40 ms. A transaction of a few requests then takes 90 ms, and 3 ms without the algorithm. Accepted connections inherit the options
/// of their listening socket (tcp(7)).
enum PromptAnswers {
  private static let highestDescriptor: Int32 = 4_096

  /// Changes this process's sockets that listen on these addresses, `127.0.0.1:PORT` separated by commas. Returns the number of sockets
  /// found.
  static func turnOn(for bootstrapServers: String) -> Int {
    let ports = Set(
      bootstrapServers.split(separator: ",").compactMap { $0.split(separator: ":").last.flatMap { UInt16($0) } })
    var found = 0
    for descriptor in 3..<highestDescriptor {
      var isListening: Int32 = 0
      var size = socklen_t(MemoryLayout<Int32>.size)
      // The call fails for descriptors that are not sockets.
      guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0, isListening != 0,
        let port = port(of: descriptor), ports.contains(port)
      else { continue }
      var on: Int32 = 1
      setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, size)
      found += 1
    }
    return found
  }

  private static func port(of descriptor: Int32) -> UInt16? {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
    }
    return code == 0 && address.sin_family == sa_family_t(AF_INET) ? UInt16(bigEndian: address.sin_port) : nil
  }
}
