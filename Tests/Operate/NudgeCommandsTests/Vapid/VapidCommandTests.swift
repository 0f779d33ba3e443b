import Foundation
import TestSupport
import Testing
import WebPush

@testable import NudgeCommands

@Suite("nudge vapid")
struct VapidCommandTests {
  private func run(_ arguments: [String]) -> (status: Int32, errors: String) {
    var errors = ""
    let status = NudgeCLI().run(arguments, environment: [:], output: { _ in }, errors: { errors += $0 + "\n" })
    return (status, errors)
  }

  @Test("issue 57: make writes a key that only its owner reads, and never over a file")
  func make() throws {
    let folder = try TemporaryDirectory()
    let path = folder.path + "/vapid.pem"
    #expect(run(["vapid", "make", path]).status == 0)
    let contents = try String(contentsOfFile: path, encoding: .utf8)
    #expect(try VAPIDKey.keys(inFile: contents).count == 1)
    let rights = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(rights == 0o600)
    let again = run(["vapid", "make", path])
    #expect(again.status == 1 && again.errors.contains("cannot write \(path): File exists"), "\(again.errors)")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == contents)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["vapid.pem"])
  }

  @Test("issue 57: rotate puts a new key before the one that subscriptions were made with, and keeps two at most")
  func rotate() throws {
    let folder = try TemporaryDirectory()
    let path = folder.path + "/vapid.pem"
    #expect(run(["vapid", "make", path]).status == 0)
    let first = try VAPIDKey.keys(inFile: String(contentsOfFile: path, encoding: .utf8))[0].publicKey
    #expect(run(["vapid", "rotate", path]).status == 0)
    let both = try VAPIDKey.keys(inFile: String(contentsOfFile: path, encoding: .utf8)).map(\.publicKey)
    #expect(both.count == 2 && both[1] == first && both[0] != first)
    #expect(run(["vapid", "show", path]).status == 0)
    let third = run(["vapid", "rotate", path])
    #expect(third.status == 1 && third.errors.contains("has 2 keys"), "\(third.errors)")
    try Data("nothing".utf8).write(to: URL(fileURLWithPath: path))
    #expect(run(["vapid", "show", path]).errors.contains("no private key in PEM"))
  }
}
