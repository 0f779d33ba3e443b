// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "nudge-benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "nudge", path: "..")],
  targets: [
    // Baselines: the C libraries with nothing on top.
    .target(
      name: "CLoops", linkerSettings: [.linkedLibrary("rdkafka"), .linkedLibrary("curl"), .linkedLibrary("sqlite3")]),
    .executableTarget(
      name: "nudge-benchmarks",
      dependencies: ["CLoops", .product(name: "NudgeServices", package: "nudge")],
      exclude: [
        "HTTP/events.lua", "Peers/StreamsPeer.java", "Transactions/Clients/TouchTransactions.java",
      ],
      swiftSettings: [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .treatAllWarnings(as: .error),
      ]),
  ]
)
