import Foundation
import Glibc
import Kafka

/// Several brokers of one cluster on this machine. The first one is also the controller.
enum BrokerCluster {
  /// Formats the brokers' folders, `broker-1` and so on, and starts them. Internal topics have a replica on each.
  static func start(_ count: Int, home: URL, directory: URL) throws -> [LocalBroker] {
    let folders = (1...count).map { directory.appendingPathComponent("broker-\($0)") }
    let first = try LocalBroker(home: home, directory: folders[0], overrides: replication(count))
    for (index, folder) in folders.enumerated().dropFirst() {
      try format(folder, number: index + 1, like: folders[0], home: home)
    }
    let brokers = try [first] + folders.dropFirst().map { try LocalBroker(home: home, directory: $0) }
    for broker in brokers { try broker.start() }
    let admin = try Admin(ClientConfiguration(bootstrapServers: first.bootstrapServers))
    let deadline = Clocks.steady + 60
    while try admin.brokers(timeout: .seconds(10)).count < count {
      guard Clocks.steady < deadline else { throw BenchmarkFailure("the \(count) brokers do not find each other") }
      usleep(50_000)
    }
    return brokers
  }

  /// As docs/operations.md says for three brokers: a write is acknowledged once one replica besides the leader's has it.
  private static func replication(_ count: Int) -> [String: String] {
    let inSync = String(max(1, count - 1))
    var settings = ["min.insync.replicas": inSync]
    for topic in ["offsets.topic", "transaction.state.log", "share.coordinator.state.topic"] {
      settings["\(topic).replication.factor"] = String(count)
    }
    for topic in ["transaction.state.log", "share.coordinator.state.topic"] { settings["\(topic).min.isr"] = inSync }
    return settings
  }

  /// Another broker of the cluster, with the first one's settings and its own id and ports.
  private static func format(_ folder: URL, number: Int, like first: URL, home: URL) throws {
    var settings = try properties(first.appendingPathComponent("server.properties"))
    let identity = try properties(first.appendingPathComponent("data/meta.properties"))
    guard let cluster = identity["cluster.id"] else {
      throw BenchmarkFailure("\(first.path)/data/meta.properties has no cluster.id")
    }
    let listener = "PLAINTEXT://127.0.0.1:\(try freePort())"
    settings.merge([
      "node.id": String(number), "process.roles": "broker", "listeners": listener, "advertised.listeners": listener,
      "log.dirs": folder.appendingPathComponent("data").path,
    ]) { $1 }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // `LocalBroker` recognises a formatted folder by this name.
    let file = folder.appendingPathComponent("server.properties")
    try Data(settings.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)\n" }.joined().utf8).write(to: file)
    try Program.run(
      home.appendingPathComponent("bin/kafka-storage.sh").path,
      ["format", "-t", cluster, "-c", file.path, "--no-initial-controllers"])
  }

  private static func properties(_ file: URL) throws -> [String: String] {
    var found: [String: String] = [:]
    for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") where !line.hasPrefix("#") {
      let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { found[String(parts[0])] = String(parts[1]) }
    }
    return found
  }

  /// A port nobody listens on, below those that the system gives to connections.
  private static func freePort() throws -> UInt16 {
    for _ in 0..<200 {
      let port = UInt16.random(in: 15_000..<30_000)
      let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      guard socket >= 0 else { break }
      defer { close(socket) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      let isFree = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      if isFree { return port }
    }
    throw BenchmarkFailure("no free port between 15000 and 30000 on 127.0.0.1")
  }
}
