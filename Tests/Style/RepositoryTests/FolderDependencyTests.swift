import TestSupport
import Testing

@Suite("Folders of a module")
struct FolderDependencyTests {
  @Test(
    "no two folders of these modules depend on each other",
    arguments: ["Sources/Operate/NudgeCommands", "Sources/Lab/NudgeLab", "Sources/Stages/Analyzer"])
  func circles(_ module: String) throws {
    let folders = try FolderDependencies(module: Repository.file(module))
    #expect(folders.edges.count >= 5)
    #expect(folders.circles.isEmpty)
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
