import Foundation
import JSONCodec
import Testing

@Suite("JSONCodec: reading")
struct JSONParserTests {
  let parser = JSONParser()

  private func error(_ bytes: [UInt8], parser: JSONParser? = nil) -> JSONParseError? {
    do {
      try (parser ?? self.parser).parse(bytes) { _ in }
      return nil
    } catch {
      return error as? JSONParseError
    }
  }

  private func error(_ text: String) -> JSONParseError? { error(Array(text.utf8)) }

  private func read<Result>(_ text: String, _ body: (JSONNode) throws -> Result) throws -> Result {
    try parser.parse(Array(text.utf8), body)
  }

  @Test("every kind of value is told and read")
  func kinds() throws {
    let text =
      #"{"s":"a","i":-7,"u":18446744073709551615,"d":1.5,"t":true,"f":false,"n":null,"a":[1,[2],{}],"o":{"x":{}}}"#
    try read(text) { root in
      #expect(root.kind == .object)
      #expect(root["s"]?.kind == .string)
      #expect(root["s"]?.string == "a")
      #expect(root["i"]?.kind == .int64)
      #expect(root["i"]?.int64 == -7)
      #expect(root["i"]?.uint64 == nil)
      #expect(root["i"]?.double == -7)
      #expect(root["u"]?.kind == .uint64)
      #expect(root["u"]?.uint64 == .max)
      #expect(root["u"]?.int64 == nil)
      #expect(root["d"]?.kind == .double)
      #expect(root["d"]?.double == 1.5)
      #expect(root["d"]?.int64 == nil)
      #expect(root["t"]?.bool == true)
      #expect(root["f"]?.bool == false)
      #expect(root["f"]?.kind == .bool)
      #expect(root["n"]?.isNull == true)
      #expect(root["n"]?.kind == .null)
      #expect(root["a"]?.elements?.map(\.kind) == [.int64, .array, .object])
      #expect(root["o"]?["x"]?.members?.map { _ in 0 } == [])
      #expect(root["missing"] == nil)
      #expect(root["s"]?["x"] == nil)
      #expect(root.members?.map { $0.key.string } == ["s", "i", "u", "d", "t", "f", "n", "a", "o"])
    }
  }

  @Test("an accessor answers nil for a value of another type")
  func wrongType() throws {
    try read(#"["1",1,true,null,{},[]]"#) { root in
      let nodes = Array(try #require(root.elements))
      #expect(nodes.map { $0.string != nil } == [true, false, false, false, false, false])
      #expect(nodes.map { $0.utf8 != nil } == [true, false, false, false, false, false])
      #expect(nodes.map { $0.int64 != nil } == [false, true, false, false, false, false])
      #expect(nodes.map { $0.uint64 != nil } == [false, true, false, false, false, false])
      #expect(nodes.map { $0.double != nil } == [false, true, false, false, false, false])
      #expect(nodes.map { $0.bool != nil } == [false, false, true, false, false, false])
      #expect(nodes.map { $0.isNull } == [false, false, false, true, false, false])
      #expect(nodes.map { $0.members != nil } == [false, false, false, false, true, false])
      #expect(nodes.map { $0.elements != nil } == [false, false, false, false, false, true])
      #expect(root.members == nil)
    }
  }

  @Test("values at the root are read, too", arguments: ["1", "\"a\"", "true", "null", "[]", "{}", " 1.5 "])
  func scalarRoot(text: String) throws {
    let expected = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    #expect(try read(text, JSONValue.init) == expected)
  }

  @Test("a string is compared with a literal byte by byte, in a switch, too")
  func literals() throws {
    try read(#"{"type":"push","\u0074ype2":"pus","x":"pushed","y":"","z":7}"#) { root in
      #expect(root["type"]?.equals("push") == true)
      #expect(root["type2"]?.equals("push") == false)
      #expect(root["x"]?.equals("push") == false)
      #expect(root["y"]?.equals("") == true)
      #expect(root["z"]?.equals("7") == false)
      var seen: [String] = []
      for member in try #require(root.members) {
        switch member.key {
        case "type": seen.append("type")
        case "type2": seen.append("type2")
        default: seen.append("other")
        }
      }
      #expect(seen == ["type", "type2", "other", "other", "other"])
    }
  }

  @Test("escapes are resolved; NUL, surrogate pairs and right-to-left text stay whole")
  func strings() throws {
    try read(#"["a\u0000b","\ud83d\ude42","\"\\\/\b\f\n\r\t","שלום","\u200f"]"#) { root in
      #expect(root.elements?.map { $0.string } == ["a\u{0}b", "🙂", "\"\\/\u{8}\u{c}\n\r\t", "שלום", "\u{200f}"])
      #expect(root.elements?.map { $0.utf8?.count } == [3, 4, 8, 8, 3])
    }
  }

  @Test("members are taken in any order; the first of a repeated one counts, whatever was taken before")
  func takenMembers() throws {
    for text in [
      #"{"a":1,"b":2,"c":3}"#, #"{"c":3,"b":2,"a":1}"#, #"{"x":0,"a":1,"c":3,"y":{"b":9},"b":2}"#,
      #"{"b":2,"a":1,"b":9,"c":3,"a":9}"#, #"{"a":1,"a":9,"b":2,"c":3,"b":9}"#, #"{"a":1,"c":3,"b":2,"b":9,"c":9}"#,
    ] {
      try read(text) { root in
        var members = try #require(root.members)
        #expect(members.take("a")?.int64 == 1)
        #expect(members.take("missing") == nil)
        #expect(members.take("b")?.int64 == 2)
        #expect(members.take("c")?.int64 == 3)
        #expect(members.take("") == nil)
      }
    }
    try read("{}") { root in
      var members = try #require(root.members)
      #expect(members.take("a") == nil)
    }
  }

  @Test("of members with the same key the first counts, as for JSONDecoder")
  func duplicateKeys() throws {
    struct A: Decodable { var a: Int }
    let text = #"{"b":{"a":9},"a":1,"a":2,"\u0061":3}"#
    #expect(try JSONDecoder().decode(A.self, from: Data(text.utf8)).a == 1)
    #expect(try read(text) { $0["a"]?.int64 } == 1)
  }

  @Test(
    "a whole number is an integer however it is written, as for JSONDecoder",
    arguments: [
      "1.0", "1e3", "1E2", "0.1e1", "-0", "-0.0", "9007199254740992.0", "-1e15", "1.5", "9223372036854775807",
      "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
      "18446744073709551616", "1e300",
    ])
  func integers(text: String) throws {
    let data = Data("[\(text)]".utf8)
    let decoder = JSONDecoder()
    let signed = try? decoder.decode([Int64].self, from: data).first
    let unsigned = try? decoder.decode([UInt64].self, from: data).first
    let double = try? decoder.decode([Double].self, from: data).first
    try read("[\(text)]") { root in
      let node = try #require(root.elements?.first { _ in true })
      #expect(node.int64 == signed)
      #expect(node.uint64 == unsigned)
      #expect(node.double == double)
    }
  }

  @Test("a double that may be a rounded integer is none")
  func roundedDoubles() throws {
    try read("[9007199254740994.0,9223372036854775807e0,1e18]") { root in
      #expect(root.elements?.map { $0.int64 } == [nil, nil, nil])
    }
  }

  @Test("an integer beyond 64 bits is a double, and does not spoil the record it is an unknown field of")
  func wideIntegers() throws {
    struct A: Decodable, Equatable { var a: Int; var c: String }
    let text =
      #"{"b":[99999999999999999999999,-99999999999999999999],"c":"\"-99999999999999999999\\","a":18446744073709551,"d":18446744073709551615}"#
    try read(text) { root in
      #expect(root["b"]?.elements?.map { $0.kind } == [.double, .double])
      #expect(root["b"]?.elements?.map { $0.double } == [1e23, -1e20])
      #expect(root["b"]?.elements?.map { $0.int64 } == [nil, nil])
      #expect(root["c"]?.string == #""-99999999999999999999\"#)
      #expect(root["a"]?.int64 == 18_446_744_073_709_551)
      #expect(root["d"]?.uint64 == .max)
    }
    #expect(
      try JSONDecoder().decode(A.self, from: Data(text.utf8))
        == A(a: 18_446_744_073_709_551, c: #""-99999999999999999999\"#))
    #expect(error("[99999999999999999999999,01]") == .invalidNumber)
    #expect(error("[99999999999999999999999") == .syntax)
  }

  @Test("a UTF-8 byte order mark is skipped once, and is content inside a string")
  func byteOrderMark() throws {
    #expect(try parser.parse([0xEF, 0xBB, 0xBF] + Array("[1]".utf8), JSONValue.init) == .array([.int(1)]))
    #expect(try read("[\"\u{feff}\"]") { $0.elements?.map { $0.string } } == ["\u{feff}"])
    #expect(error([0xEF, 0xBB, 0xBF]) == .empty)
    #expect(error([0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF] + Array("[1]".utf8)) == .syntax)
  }

  @Test("invalid documents are refused with the kind of error")
  func errors() {
    let cases: [(String, JSONParseError)] = [
      ("", .empty), (" \n", .empty), ("{", .syntax), ("[1,]", .syntax), ("{\"a\":1,}", .syntax), ("{\"a\" 1}", .syntax),
      ("{a:1}", .syntax), ("[1] x", .syntax), ("[1][2]", .syntax), ("[1]\u{0}", .syntax), ("tru", .syntax),
      ("[nul]", .syntax), ("[TRUE]", .syntax), ("NaN", .syntax), ("]", .syntax), ("[}", .syntax), ("// c\n1", .syntax),
      ("[01]", .invalidNumber), ("[1.]", .invalidNumber), ("[1e]", .invalidNumber), ("[-]", .invalidNumber),
      ("[1e400]", .invalidNumber), ("[-1e400]", .invalidNumber), ("[0x1]", .invalidNumber), ("[+1]", .syntax),
      ("[.5]", .syntax), ("\"\\x\"", .invalidString), ("\"\\u12\"", .invalidString), ("\"a", .invalidString),
      ("\"a\u{1}b\"", .invalidString), ("\"a\nb\"", .invalidString), (#""\uD800""#, .invalidString),
      (#""\uDC00""#, .invalidString), (#""\uD800\u0041""#, .invalidString), (#""\uD800\uD800""#, .invalidString),
      (#"["\uDFFF\uD800"]"#, .invalidString), (#"{"\uD83D":1}"#, .invalidString),
    ]
    for (text, expected) in cases { #expect(error(text) == expected, "\(text.debugDescription)") }
  }

  @Test("bytes that are not UTF-8 are refused wherever they are")
  func invalidUTF8() {
    let prefix = Array(#"{"a":""#.utf8)
    let suffix = Array(#"","b":1}"#.utf8)
    let sequences: [[UInt8]] = [
      [0xFF], [0x80], [0xC3], [0xC0, 0x80], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
      [0xF4, 0x90, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80],
    ]
    for sequence in sequences {
      #expect(error(prefix + sequence + suffix) == .invalidUTF8, "\(sequence)")
    }
    #expect(error([0x5B, 0xFF, 0x5D]) == .invalidUTF8)
    let utf16 = Array("{}".utf16).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    #expect(error(utf16) == .syntax)
  }

  @Test("nesting is allowed to the limit and not one level beyond", arguments: [1, 2, 64, 1_024])
  func depth(limit: Int) throws {
    let parser = JSONParser(maximumDepth: limit)
    func nested(_ levels: Int) -> [UInt8] {
      let text = (0..<levels).map { $0 % 2 == 0 ? "[" : "{\"a\":" }.joined() + "1"
      return Array((text + (0..<levels).reversed().map { $0 % 2 == 0 ? "]" : "}" }.joined()).utf8)
    }
    #expect(error(nested(limit), parser: parser) == nil)
    #expect(error(nested(limit + 1), parser: parser) == .tooDeep(limit: limit))
    // The limit stays when the buffers have grown for a large document.
    #expect(error(Array("[\"\(String(repeating: "x", count: 100_000))\"]".utf8), parser: parser) == nil)
    #expect(error(nested(limit), parser: parser) == nil)
    #expect(error(nested(limit + 1), parser: parser) == .tooDeep(limit: limit))
    let brackets = [UInt8](repeating: 0x5B, count: 100_000) + [UInt8](repeating: 0x5D, count: 100_000)
    #expect(error(brackets, parser: parser) == .tooDeep(limit: limit))
  }

  @Test("a document of more bytes than allowed is not read at all")
  func tooLarge() {
    let parser = JSONParser(maximumBytes: 5)
    #expect(error(Array("[1,2]".utf8), parser: parser) == nil)
    #expect(error(Array("[1,22]".utf8), parser: parser) == .tooLarge(bytes: 6, limit: 5))
  }

  @Test("after an error the parser reads the next document as if nothing had been")
  func reuse() throws {
    for text in ["{\"a\":", "[1e400]", "\"\\uD800\"", ""] {
      #expect(error(text) != nil)
      #expect(try read(#"{"a":[1,2]}"#) { $0["a"]?.elements?.map { $0.int64 } } == [1, 2])
    }
  }
}
