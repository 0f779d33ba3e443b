import Foundation
import ServiceKit
import WebPush

/// `nudge vapid`: the keys by which Web Push services identify the sender.
enum VapidCommand {
  /// The most keys in a file: while keys change, the new one and the one with which subscriptions were made.
  static let most = 2

  private static let file = PositionalArgument("file", help: "The key file, in PEM.", count: .one)

  private static let json = CommandOutput.json

  static let command = Command(
    "vapid", abstract: "Makes and shows the keys for Web Push.", subcommands: [make, rotate, show])

  private static let make = Command(
    "make", abstract: "Makes a key in a new file, and prints its public half.",
    discussion:
      "Apps subscribe with the public half: applicationServerKey of PushManager.subscribe. The file is a secret.",
    settings: [json], arguments: [file], examples: ["nudge vapid make vapid.pem"]
  ) { input in
    try write(try VAPIDKey.makePEM(), to: input.argument("file") ?? "", isNew: true)
    return try show(input)
  }

  private static let rotate = Command(
    "rotate", abstract: "Puts a new key before the one in a file.",
    discussion:
      "New subscriptions are made with the new key; each subscription goes on with its own. Take the second key out of the file once no "
      + "subscription was made with it.",
    settings: [json], arguments: [file], examples: ["nudge vapid rotate vapid.pem"]
  ) { input in
    let path = input.argument("file") ?? ""
    let contents = String(decoding: try FileContent.read(path), as: UTF8.self)
    guard try keys(contents, path).count < most else {
      throw CommandError("\(path) has \(most) keys: take the second one out first")
    }
    try write(try VAPIDKey.makePEM() + contents, to: path, isNew: false)
    return try show(input)
  }

  private static let show = Command(
    "show", abstract: "Prints the public halves of the keys in a file, the one for new subscriptions first.",
    settings: [json], arguments: [file], examples: ["nudge vapid show vapid.pem"]
  ) { input in try show(input) }

  private static func show(_ input: CommandInput) throws -> Int32 {
    let path = input.argument("file") ?? ""
    let keys = try keys(String(decoding: try FileContent.read(path), as: UTF8.self), path).map(\.publicKey)
    if input[json] {
      try CommandOutput.print(fields: ["publicKeys": keys])
    } else {
      for key in keys { print(key) }
    }
    return ExitCode.success
  }

  private static func keys(_ contents: String, _ path: String) throws -> [VAPIDKey] {
    do throws(VAPIDKey.Invalid) {
      return try VAPIDKey.keys(inFile: contents)
    } catch {
      throw CommandError("\(path): \(error)")
    }
  }

  /// Writes a file that only its owner can read. It is written beside the target first, so that nobody sees it incomplete.
  private static func write(_ contents: String, to path: String, isNew: Bool) throws {
    let bytes = Array(contents.utf8)
    let beside = path + ".new"
    let descriptor = open(beside, O_WRONLY | O_CREAT | O_EXCL, 0o600)
    guard descriptor >= 0 else { throw CommandError("cannot make \(beside): \(String(cString: strerror(errno)))") }
    let isWritten = Foundation.write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
    close(descriptor)
    // A link fails if the file exists; a rename would replace it.
    let isThere = isWritten && (isNew ? link(beside, path) : rename(beside, path)) == 0
    let reason = String(cString: strerror(errno))
    if isNew || !isThere { unlink(beside) }
    guard isThere else { throw CommandError("cannot write \(path): \(reason)") }
  }
}
