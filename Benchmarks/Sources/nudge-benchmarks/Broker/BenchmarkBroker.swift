import Foundation
import Kafka
import NudgeSchema

/// The broker, or cluster of brokers, of one run of benchmarks, with functions to create topics and write records.
final class BenchmarkBroker {
  let bootstrapServers: String
  /// For stores; removed at the end.
  let directory: URL
  private let brokers: [LocalBroker]
  private let admin: Admin

  /// Starts `--brokers` brokers of the distribution; nil without a distribution.
  static func start(_ options: BenchmarkOptions) throws -> BenchmarkBroker? {
    guard let home = options.kafkaHome, !home.isEmpty else { return nil }
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "nudge-benchmark-\(UUID().uuidString)")
    let distribution = URL(fileURLWithPath: home).standardizedFileURL
    guard options.brokers == 1 else {
      return try BenchmarkBroker(
        BrokerCluster.start(options.brokers, home: distribution, directory: directory), directory)
    }
    let broker = try LocalBroker(home: distribution, directory: directory)
    try broker.start()
    return try BenchmarkBroker([broker], directory)
  }

  private init(_ brokers: [LocalBroker], _ directory: URL) throws {
    self.brokers = brokers
    self.directory = directory
    bootstrapServers = brokers.map(\.bootstrapServers).joined(separator: ",")
    admin = try Admin(ClientConfiguration(bootstrapServers: bootstrapServers))
  }

  func stop() {
    // The controller last: the others cannot shut down cleanly without it.
    for broker in brokers.reversed() { broker.stop() }
    do {
      try FileManager.default.removeItem(at: directory)
    } catch {
      FileHandle.standardError.write(Data("could not remove \(directory.path): \(error)\n".utf8))
    }
  }

  /// Stops each broker cleanly and starts it again, on the same port and data.
  func restart() throws { for broker in brokers { try broker.restart() } }

  /// CPU seconds of all brokers together.
  func cpuSeconds() throws -> Double {
    try brokers.reduce(0) { sum, broker in
      let settings = broker.directory.appendingPathComponent("server.properties").path
      return sum + (try ProcessUsage.cpuSeconds(try ProcessUsage.descendant(named: "java", mentioning: settings)))
    }
  }

  /// Creates topics as `nudge topics create` would, with these names.
  func create(_ topics: [(name: String, plan: TopicPlan)], partitions: Int32) throws {
    let made = try admin.createTopics(
      topics.map {
        Admin.NewTopic(
          name: $0.name, partitions: Int(partitions), replicationFactor: brokers.count,
          configuration: $0.plan.configuration)
      }, timeout: .seconds(30))
    for result in made.values { try result.get() }
    // A new topic may still be unknown.
    let deadline = Clocks.steady + 30
    while try admin.partitionCounts(of: topics.map(\.name), timeout: .seconds(10)).count < topics.count {
      guard Clocks.steady < deadline else { throw BenchmarkFailure("the broker does not know its new topics") }
    }
  }

  /// Deletes topics, so that the next measurement does not pay for their files.
  func delete(_ topics: [String]) throws {
    for result in try admin.deleteTopics(topics, timeout: .seconds(30)).values { try result.get() }
  }

  /// Bytes of a topic's records in one broker's files, over all partitions. Each broker has all of them.
  func logBytes(of topic: String) throws -> Int {
    let data = brokers[0].directory.appendingPathComponent("data")
    let files = FileManager.default
    return try files.contentsOfDirectory(atPath: data.path).filter { folder in
      folder.hasPrefix("\(topic)-") && Int(folder.dropFirst(topic.count + 1)) != nil
    }.flatMap { folder in
      try files.contentsOfDirectory(atPath: data.appendingPathComponent(folder).path).filter { $0.hasSuffix(".log") }
        .map { data.appendingPathComponent(folder).appendingPathComponent($0).path }
    }.reduce(0) { sum, path in
      sum + (try files.attributesOfItem(atPath: path)[.size] as? Int ?? 0)
    }
  }

  /// Writes records to a topic, rotating over the keys, with values of this many bytes.
  func fill(_ topic: String, records: Int, bytes: Int, keys: Int, partitions: Int32) throws {
    let producer = try Producer(
      ClientConfiguration.producer(bootstrapServers: bootstrapServers, transactionalID: nil), name: "fill")
    defer { producer.close() }
    let handle = try producer.topic(topic)
    var value = [UInt8](repeating: UInt8(ascii: "x"), count: bytes)
    for index in 0..<records {
      let key = Array("key-\(index % keys)".utf8)
      withUnsafeBytes(of: index) { number in
        for (place, byte) in number.enumerated() { value[place] = byte & 0x3F + 0x20 }
      }
      try producer.produce(
        topic: handle, partition: Murmur2.partition(of: key, count: partitions), key: key, value: value)
    }
    try producer.flush(timeout: .seconds(120))
  }
}
