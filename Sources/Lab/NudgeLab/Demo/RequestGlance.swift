import NudgeSchema

/// The fields of a line in the emulator's record of requests that the ledger reads.
struct RequestGlance: Decodable {
  struct Message: Decodable {
    struct Fields: Decodable {
      let pushId: String?
      let messageId: String?
      let type: String?

      /// The message that the push shows. Absent for a read, whose message the person has already seen.
      var shownMessageId: String? { type == "read" ? nil : messageId }
    }
    let token: String?
    let data: Fields?
  }
  struct Body: Decodable { let message: Message? }
  let time: Milliseconds
  let path: String
  let status: Int
  let body: Body?

  private enum CodingKeys: String, CodingKey { case time, path, status, body }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    time = try fields.decode(Milliseconds.self, forKey: .time)
    path = try fields.decode(String.self, forKey: .path)
    status = try fields.decode(Int.self, forKey: .status)
    // The emulator records a body that is not JSON as a string.
    body = try? fields.decode(Body.self, forKey: .body)
  }
}
