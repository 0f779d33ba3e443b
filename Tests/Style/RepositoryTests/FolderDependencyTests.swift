import TestSupport
import Testing

@Suite("Folders of a module")
struct FolderDependencyTests {
  /// Its folders are what an app does, and use each other.
  private static let circular: Set<String> = ["NudgeClient"]

  @Test("no two folders of a module depend on each other, directly or through others")
  func circles() throws {
    let package = try PackageLayers()
    var edges = 0
    for target in package.targets where !target.isTest && !Self.circular.contains(target.name) {
      let module = Repository.file("Sources/\(package.folders[target.layer] ?? "")/\(target.name)")
      let folders = try FolderDependencies(module: module)
      #expect(folders.circles.isEmpty, "\(target.name): \(folders.circles)")
      edges += folders.edges.values.reduce(0) { $0 + $1.count }
    }
    #expect(edges > 40)
  }

  @Test("a circle over three folders is found, and one through the root is none")
  func findsCircles() {
    let circle = FolderDependencies([
      "A/One.swift": "struct One { var two: Two }", "B/Two.swift": "enum Two { case three(Three) }",
      "C/Three.swift": "struct Three { var one: One }", "D/Four.swift": "struct Four { var one: One }",
    ])
    #expect(circle.circles.count == 3)
    #expect(circle.circles.first?.hasPrefix("A -> B (A/One.swift: Two), B -> C") == true)
    let root = FolderDependencies([
      "A/One.swift": "struct One { var all: All }", "All.swift": "struct All { var one: One }",
    ])
    #expect(root.circles.isEmpty)
  }
}
