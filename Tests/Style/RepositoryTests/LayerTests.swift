import Foundation
import TestSupport
import Testing

@Suite("Layers")
struct LayerTests {
  /// Servers, and phones, that tests of a lower layer talk to.
  private static let instruments: Set<String> = ["FCMEmulator", "VirtualPhone"]

  @Test("a target depends only on targets of its own layer and of those above it in Package.swift")
  func dependencies() throws {
    let package = try PackageLayers()
    #expect(package.layers == ["c", "contract", "platform", "runtime", "stages", "operate", "lab", "programs"])
    #expect(package.targets.count > 40)
    #expect(package.upward(instruments: Self.instruments).isEmpty)
  }

  @Test("a dependency on a layer below is found, in a module and in a test")
  func findsUpward() {
    let package = PackageLayers(
      """
      case contract = "Contract"
      case lab = "Lab"
      Layer.contract.module("A", ["B"]),
      Layer.lab.module(
        "B", ["A"]),
      Layer.contract.tests("ATests", ["A", "B"]),
      """)
    #expect(package.upward(instruments: []) == ["A -> B", "ATests -> B"])
    #expect(package.upward(instruments: ["B"]) == ["A -> B"])
  }

  @Test("a Swift file imports only modules that its target declares as dependencies", arguments: ["Sources", "Tests"])
  func imports(_ root: String) throws {
    let package = try PackageLayers()
    let modules = Set(package.targets.map(\.name))
    var files = 0
    for target in package.targets {
      let folder = Repository.file("\(root)/\(package.folders[target.layer] ?? "")/\(target.name)")
      for file in Repository.swiftFiles(in: folder) {
        files += 1
        let text = try String(contentsOf: file, encoding: .utf8)
        let imported = text.matches(of: /(?m)^(?:@\w+ |public |package |internal )*import (\w+)$/).map { String($0.1) }
        for module in imported where modules.contains(module) {
          #expect(target.dependencies.contains(module), "\(target.name): \(file.lastPathComponent) imports \(module)")
        }
      }
    }
    #expect(files > 150)
  }

  @Test(
    "the build of the image has the folder of each target, without which SwiftPM refuses the package, and each embedded file"
  )
  func image() throws {
    func matches(_ file: String, _ pattern: Regex<(Substring, Substring)>) throws -> [String] {
      try String(contentsOf: Repository.file(file), encoding: .utf8).matches(of: pattern).map { String($0.1) }
    }
    let copied = try matches("Deploy/Dockerfile", /(?m)^COPY ([\w\/]+) \.\/[\w\/]+$/)
    let paths = try matches("Package.swift", /path: "([\w\/]+)"/)
    #expect(copied.contains("Sources") && paths.contains("Benchmarks/Research"))
    let embedded = try matches("Sources/C/CWebPages/pages.c", /#embed "\.\.\/\.\.\/\.\.\/([\w\/.]+)"/)
    #expect(embedded.contains("Schemas/app/web/live.js"))
    for path in paths + embedded {
      #expect(copied.contains { path == $0 || path.hasPrefix("\($0)/") }, "\(path) is not in the build of the image")
    }
  }

  @Test("every folder of a layer is a target of that layer", arguments: ["Sources", "Tests"])
  func folders(_ root: String) throws {
    let package = try PackageLayers()
    for layer in package.layers {
      let folder = Repository.file("\(root)/\(package.folders[layer] ?? "")")
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
      // Plain C targets are declared without the layer's helpers.
      for name in names where layer != "c" {
        #expect(package.target(name)?.layer == layer, "\(root)/\(package.folders[layer] ?? "")/\(name)")
      }
    }
  }
}
