import Foundation
import TestSupport
import Testing

@Suite("Issue 57: the service worker for Web Push")
struct PushWorkerTests {
  @Test("it has at most 60 lines, and docs/apps.md has it as it is")
  func inDocs() throws {
    let worker = try String(contentsOf: Repository.file("Schemas/app/web/push-worker.js"), encoding: .utf8)
    #expect(worker.split(separator: "\n", omittingEmptySubsequences: false).count - 1 <= 60)
    let docs = try String(contentsOf: Repository.file("docs/apps.md"), encoding: .utf8)
    #expect(docs.contains("```js\n\(worker)```\n"), "copy Schemas/app/web/push-worker.js into docs/apps.md")
  }
}
