import Ingest
import NudgeSchema
import StreamRuntime
import Testing

@Suite("M5: what changes only how something looks is ignored, and the records of the event say so")
struct CosmeticFieldTests {
  private static let start = IngestPipeline.start

  private func send(
    _ pipeline: IngestPipeline, _ type: String, _ fields: String, key: String, topic: Topic
  ) -> IngestPipeline.Result {
    let json = """
      {"schemaVersion":1,"type":"\(type)","eventId":"e-\(type)","occurredAt":\(Self.start),\(fields)}
      """
    return pipeline.driver.send(bytes: Array(json.utf8), to: topic, key: Array(key.utf8))
  }

  private func ignored(_ result: IngestPipeline.Result, on topic: Topic) -> Set<String?> {
    Set(
      result.outputs.filter { $0.topic == topic }.map { output in
        output.headers.first { $0.name == "nudge-ignored" }.map { String(decoding: $0.value, as: UTF8.self) }
      })
  }

  private func counted(_ result: IngestPipeline.Result) -> Set<String> {
    Set(result.counted.map { $0.series.labels["field"] ?? "" })
  }

  @Test(
    "a device is registered, whatever its locale and version are",
    arguments: [
      (#""zh_CN_#Hans""#, #""4.2""#, "zh-Hans-CN", "4.2", nil),
      (#""en_US@rg=dezzzz""#, #""4.2""#, "en-US", "4.2", nil), (#""C""#, #""4.2""#, nil, "4.2", "locale"),
      (#""de-CH""#, "42", "de-CH", nil, "appVersion"), ("7", "[]", nil, nil, "appVersion, locale"),
      ("null", "null", nil, nil, nil), (#"{"language":"de"}"#, #""""#, nil, nil, "appVersion, locale"),
    ] as [(String, String, String?, String?, String?)])
  func device(locale: String, version: String, read: String?, readVersion: String?, names: String?) throws {
    let pipeline = IngestPipeline()
    let result = send(
      pipeline, "device.registered",
      #""userId":"ann","deviceId":"phone","token":"t","platform":"ios","locale":\#(locale),"appVersion":\#(version)"#,
      key: "ann", topic: .userEvents)
    #expect(result.rejection == nil)
    let claims = try pipeline.claims(result)
    guard case .registered(let claim)? = claims.first?.body else {
      Issue.record("no claim")
      return
    }
    #expect(claim.device.locale == read && claim.device.appVersion == readVersion)
    #expect(ignored(result, on: .deviceClaims) == [names])
    #expect(counted(result) == Set(names?.split(separator: ", ").map(String.init) ?? []))
    // The claim's owner row grants it: the person's timeline has what the claim says.
    let granted = try #require(result.outputs.first { $0.topic == .deviceClaims })
    let gained = pipeline.driver.send(
      bytes: granted.value, to: .deviceClaims, key: granted.key, headers: granted.headers)
    guard case .deviceGained(let device)? = try pipeline.timeline(gained).first?.body else {
      Issue.record("no device on the timeline")
      return
    }
    #expect(device.token == "t" && device.locale == read && device.appVersion == readVersion)
    #expect(ignored(gained, on: .timeline) == [names])
  }

  @Test("preferences apply without the locale that names no language")
  func preferences() throws {
    let pipeline = IngestPipeline()
    let result = send(
      pipeline, "preferences.updated", #""userId":"ann","preferences":{"enabled":false,"locale":"klingon?"}"#,
      key: "ann",
      topic: .userEvents)
    guard case .user(.preferences(let updated))? = try pipeline.timeline(result).first?.body else {
      Issue.record("no preferences")
      return
    }
    #expect(updated.preferences == PreferencesPatch(enabled: false))
    #expect(ignored(result, on: .timeline) == ["preferences.locale"])
  }

  @Test("a message reaches everybody, whatever pictures and names came with it")
  func message() throws {
    let pipeline = IngestPipeline()
    let result = send(
      pipeline, "message.created",
      #"""
      "conversationId":"c","messageId":"m","senderId":"ann","text":"hello",
      "attachments":[{"kind":"sticker","url":""},{"url":7}],"sender":{"displayName":"","avatarUrl":false},
      "conversation":{"kind":"group","name":[],"members":[{"userId":"ann","displayName":"Ann"},{"userId":"bob","displayName":null},
      {"userId":"cy","displayName":"Cy","avatarUrl":{}}]}
      """#, key: "c", topic: .chatEvents)
    #expect(result.rejection == nil)
    let candidate = try #require(try pipeline.candidates(result).first)
    #expect(candidate.sender == Member(userId: "ann", displayName: "Ann"))
    #expect(candidate.attachment == ChatAttachment(kind: .file))
    #expect(try pipeline.recipients(result) == ["bob", "cy"])
    #expect(
      ignored(result, on: .timeline) == [
        "attachments[0].url, attachments[1].url, sender.displayName, sender.avatarUrl, conversation.name, "
          + "conversation.members[1].displayName, conversation.members[2].avatarUrl"
      ])
    #expect(counted(result) == ["name", "avatarUrl", "attachmentUrl"])
  }

  @Test("a field that was not sent is not ignored: a member without a name is shown by their user id")
  func absent() throws {
    let pipeline = IngestPipeline()
    let result = send(
      pipeline, "message.created",
      #"""
      "conversationId":"c","messageId":"m","senderId":"ann","text":"hello",
      "conversation":{"kind":"group","members":[{"userId":"ann"},{"userId":"bob","displayName":""},{"userId":"cy","displayName":7}]}
      """#, key: "c", topic: .chatEvents)
    #expect(try pipeline.candidates(result).first?.sender == Member(userId: "ann", displayName: "ann"))
    #expect(
      ignored(result, on: .timeline) == ["conversation.members[1].displayName, conversation.members[2].displayName"])
    let bare = send(
      pipeline, "conversation.updated",
      #""conversationId":"d","kind":"group","members":[{"userId":"ann"},{"userId":"bob"}]"#, key: "d",
      topic: .chatEvents)
    #expect(bare.rejection == nil && counted(bare).isEmpty)
  }

  @Test("a sender's profile that is no object is ignored")
  func profile() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "bob"])
    let result = send(
      pipeline, "message.created",
      #""conversationId":"c","messageId":"m","senderId":"ann","text":"hello","sender":"Ann""#,
      key: "c", topic: .chatEvents)
    #expect(try pipeline.candidates(result).first?.sender.displayName == "Ann")
    #expect(ignored(result, on: .timeline) == ["sender.displayName"])
  }

  @Test("a conversation is known, whatever its members' names and pictures are; it is counted")
  func conversation() throws {
    let pipeline = IngestPipeline()
    let result = send(
      pipeline, "conversation.updated",
      #""conversationId":"c","kind":"group","name":"","members":[{"userId":"ann"},{"userId":"bob","avatarUrl":""}]"#,
      key: "c",
      topic: .chatEvents)
    #expect(result.rejection == nil)
    #expect(counted(result) == ["name", "avatarUrl"])
    let message = try pipeline.message(from: "ann")
    #expect(try pipeline.candidates(message).first?.title == "ann with bob")
  }

  @Test(
    "ids, tokens, platforms and projects are still refused",
    arguments: [
      (#""token":"t""#, #""token":"""#, "token must not be empty"),
      (#""platform":"ios""#, #""platform":"symbian""#, "platform is not one of the allowed values"),
      (#""deviceId":"phone""#, #""deviceId":7"#, "deviceId is not a string"),
      (#""token":"t""#, #""token":"t","projectId":"a/b""#, "projectId must be a Google project's id or number"),
    ])
  func essential(field: String, broken: String, message: String) {
    let fields = #""userId":"ann","deviceId":"phone","token":"t","platform":"ios","locale":"C""#
    let result = send(
      IngestPipeline(), "device.registered", fields.replacing(field, with: broken), key: "ann", topic: .userEvents)
    #expect(result.rejection?.code == .schemaViolation)
    #expect(result.rejection?.message.hasPrefix(message) == true, "\(result.rejection?.message ?? "accepted")")
  }
}
