import Foundation
import Kafka

/// The features of a running cluster, by Kafka's own tool.
public enum BrokerFeatures {
  /// Sets the level of a feature.
  public static func set(_ feature: String, _ level: Int, isUpgrade: Bool, at servers: String) throws {
    guard let home = LocalBroker.find() else { throw Failure(description: "KAFKA_HOME is not set") }
    let process = Process()
    let output = Pipe()
    process.executableURL = home.appendingPathComponent("bin/kafka-run-class.sh")
    process.arguments = [
      // The class that kafka-features.sh runs, which not every distribution has.
      "org.apache.kafka.tools.FeatureCommand", "--bootstrap-server", servers, isUpgrade ? "upgrade" : "downgrade",
      "--feature", "\(feature)=\(level)",
    ]
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure(description: text) }
  }

  /// The tool's output.
  public struct Failure: Error, CustomStringConvertible {
    public let description: String
  }
}
