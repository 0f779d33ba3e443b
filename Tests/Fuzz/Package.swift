// swift-tools-version: 6.2
import PackageDescription

// `Tests/trial fuzz` builds it, with -enable-testing and -sanitize=fuzzer. HTTPInputs.swift, AnswerInputs.swift and TokenVectors.swift are links to
// files of the tests, which replay what fuzzing finds.
let package = Package(
  name: "nudge-fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "nudge", path: "../..")],
  targets: [
    .target(name: "CFuzzer"),
    .target(name: "TestSupport"),
    .executableTarget(
      name: "nudge-fuzz",
      dependencies: ["CFuzzer", "TestSupport", .product(name: "NudgeServices", package: "nudge")],
      swiftSettings: [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .treatAllWarnings(as: .error),
      ]),
  ]
)
