import Testing

@testable import HTTPServer

@Suite("HTTP server: the target of a request")
struct RequestTargetTests {
  @Test("path, segments and query; escapes belong to their part")
  func parts() throws {
    let target = try #require(RequestTarget("/v1/a%2Fb/+?from=1%3D2&to=a+b&flag"))
    #expect(target.path == "/v1/a%2Fb/+")
    #expect(target.segments == ["v1", "a/b", "+"])
    #expect(target.query == ["from": "1=2", "to": "a b", "flag": ""])
  }

  @Test("the absolute form of a proxy", arguments: [("http://host/v1?a=1", "/v1"), ("http://host", "/")])
  func absolute(text: String, path: String) throws {
    #expect(try #require(RequestTarget(text)).path == path)
  }

  @Test("separators separate, whatever combining mark follows")
  func combiningMarks() throws {
    let mark = "\u{301}"
    let target = try #require(RequestTarget("/\(mark)a/\(mark)b?\(mark)c=\(mark)d&\(mark)e=f"))
    #expect(target.segments == ["\(mark)a", "\(mark)b"])
    #expect(target.query == ["\(mark)c": "\(mark)d", "\(mark)e": "f"])
  }

  @Test("no path, or a broken escape", arguments: ["", "*", "host:443", "v1", "/%", "/%4", "/%zz", "/%ff", "/a?b=%"])
  func refused(text: String) {
    #expect(RequestTarget(text) == nil)
  }
}
