import Foundation

/// Texts as gzip, by the command.
enum Zipped {
  static func of(_ text: String) throws -> [UInt8] {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("nudge-zip-\(UUID().uuidString)")
    try Data(text.utf8).write(to: file)
    let zipped = file.appendingPathExtension("gz")
    defer { try? FileManager.default.removeItem(at: zipped) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["gzip", file.path]
    try process.run()
    process.waitUntilExit()
    return Array(try Data(contentsOf: zipped))
  }
}

/// Tokens signed with HS256, as somebody makes them who has only the public key.
enum HMACToken {
  static func signed(_ claims: String, secret: String) throws -> String {
    let message = "\(encoded(Data(#"{"alg":"HS256","typ":"JWT"}"#.utf8))).\(encoded(Data(claims.utf8)))"
    let process = Process()
    let input = Pipe()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt",
      "hexkey:" + secret.utf8.map { String(Int($0) + 0x100, radix: 16).dropFirst() }.joined(), "-binary",
    ]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    input.fileHandleForWriting.write(Data(message.utf8))
    try input.fileHandleForWriting.close()
    let signature = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return "\(message).\(encoded(signature))"
  }

  private static func encoded(_ data: Data) -> String {
    data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }
}
