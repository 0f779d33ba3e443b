// Written from Schemas/ by: NUDGE_WRITE_DOCS=1 swift test --filter EventSchemasTests
// Without the variable the test fails if the two differ.

extension EventSchemas {
  /// The topic of each type.
  static let topics: [String: String] = [
    "conversation.updated": "chat.events",
    "conversation.member_added": "chat.events",
    "conversation.member_removed": "chat.events",
    "message.created": "chat.events",
    "message.edited": "chat.events",
    "message.deleted": "chat.events",
    "conversation.deleted": "chat.events",
    "user.activity": "user.events",
    "message.read": "user.events",
    "preferences.updated": "user.events",
    "device.registered": "user.events",
    "device.unregistered": "user.events",
    "feedback.submitted": "user.events",
    "notification.received": "user.events",
    "notification.opened": "user.events",
    "notification.dismissed": "user.events",
    "user.deleted": "user.events",
  ]

  /// The schema of each type.
  static let types: [String: String] = [
    "conversation.updated":
      ##"{"allOf":[{"$ref":"#/$defs/producerEnvelope"},{"$ref":"#/$defs/conversationSnapshot"}],"description":"The conversation as it is now. It replaces what was known; the last writer by (occurredAt, eventId) wins.","properties":{"conversationId":{"$ref":"#/$defs/id","description":"The conversation; the record's key."},"type":{"const":"conversation.updated"}},"required":["conversationId"],"title":"conversation.updated","type":"object"}"##,
    "conversation.member_added":
      ##"{"allOf":[{"$ref":"#/$defs/producerEnvelope"},{"$ref":"#/$defs/membershipChange"}],"description":"Somebody joined a conversation.","properties":{"type":{"const":"conversation.member_added"}},"title":"conversation.member_added","type":"object"}"##,
    "conversation.member_removed":
      ##"{"allOf":[{"$ref":"#/$defs/producerEnvelope"},{"$ref":"#/$defs/membershipChange"}],"description":"Somebody left a conversation, or was removed: what waits for them there is not sent.","properties":{"type":{"const":"conversation.member_removed"}},"title":"conversation.member_removed","type":"object"}"##,
    "message.created":
      ##"{"allOf":[{"$ref":"#/$defs/producerEnvelope"}],"anyOf":[{"properties":{"text":{"minLength":1}},"required":["text"]},{"properties":{"attachments":{"minItems":1}},"required":["attachments"]}],"description":"A message was written. It notifies whom it is for, but never its sender. It has text or an attachment.","properties":{"attachments":{"description":"What came with it.","items":{"$ref":"#/$defs/attachment"},"maxItems":32,"type":"array"},"conversation":{"$ref":"#/$defs/conversationSnapshot","description":"The conversation as it is now, for producers that do not send conversation.updated."},"conversationId":{"$ref":"#/$defs/id","description":"The conversation; the record's key."},"mentions":{"description":"The people it names by their ids; *: everybody, where the policy allows it.","items":{"$ref":"#/$defs/id"},"maxItems":1000,"type":"array"},"messageId":{"$ref":"#/$defs/id","description":"The message; unique in its conversation."},"replyTo":{"$ref":"#/$defs/id","description":"The message it answers."},"sender":{"description":"The sender as others see them; absent: as the conversation names them.","properties":{"avatarUrl":{"$ref":"#/$defs/url","description":"Where their picture is."},"displayName":{"$ref":"#/$defs/name","description":"The name shown to others; absent: as the conversation names them."}},"type":"object"},"senderId":{"$ref":"#/$defs/id","description":"Who wrote it; must take part in the conversation."},"text":{"$ref":"#/$defs/text","description":"What it says."},"type":{"const":"message.created"}},"required":["conversationId","messageId","senderId"],"title":"message.created","type":"object"}"##,
    "message.edited":
      ##"{"allOf":[{"$ref":"#/$defs/producerEnvelope"},{"$ref":"#/$defs/messageRevision"}],"description":"A message's text was changed: a push that still waits, or is shown, is replaced.","properties":{"text":{"minLength":1},"type":{"const":"message.edited"}},"required":["text"],"title":"message.edited","type":"object"}"##,
    "message.deleted":
      ##"{"allOf":[{"$ref":"#/$defs/producerEnvelope"},{"$ref":"#/$defs/messageRevision"}],"description":"A message was taken back: a push that still waits is not sent, one that is shown is removed, the badge falls.","properties":{"type":{"const":"message.deleted"}},"title":"message.deleted","type":"object"}"##,
    "conversation.deleted":
      ##"{"allOf":[{"$ref":"#/$defs/producerEnvelope"}],"description":"The conversation is gone: what is kept of it is erased, and what waits for its members is cancelled. A later conversation.updated begins it again.","properties":{"conversationId":{"$ref":"#/$defs/id","description":"The conversation; the record's key."},"type":{"const":"conversation.deleted"}},"required":["conversationId"],"title":"conversation.deleted","type":"object"}"##,
    "user.activity":
      ##"{"allOf":[{"$ref":"#/$defs/producerEnvelope"}],"description":"What one device shows. It replaces that device's former report only; send it on every change and every 60 s while the app is open.","properties":{"conversationId":{"anyOf":[{"$ref":"#/$defs/id"},{"type":"null"}],"description":"The conversation that is open; null or absent: none."},"deviceId":{"$ref":"#/$defs/id","description":"The device that reports."},"lastInputAt":{"$ref":"#/$defs/producerTime","description":"When the person last touched the device. Reports that only repeat keep messages from the person's other devices for 5 minutes after the last sign of a person: this, a change, a read, a message or a tap."},"live":{"description":"Of a stream, not of the app; GET /v1/live with answers=true reports it, as may a real-time gateway: true while a stream of the device is open whose client answers the banners that it shows, every 60 s; false when it ends. Pushes to the device wait 2 s for the answer. The other fields say nothing then.","type":"boolean"},"state":{"description":"Whether the app is open, or idle: open, and nobody is at it. background and idle end the device's activity.","enum":["foreground","background","idle"]},"tabId":{"$ref":"#/$defs/id","description":"Which of several windows or tabs with this device id reports. Each replaces its own report only. With live: which stream."},"type":{"const":"user.activity"},"userId":{"$ref":"#/$defs/id","description":"The person; the record's key."}},"required":["userId","deviceId","state"],"title":"user.activity","type":"object"}"##,
    "message.read":
      ##"{"allOf":[{"$ref":"#/$defs/producerEnvelope"}],"description":"The person has read a conversation up to and including a message. It never moves backwards.","properties":{"conversationId":{"$ref":"#/$defs/id","description":"The conversation."},"deviceId":{"$ref":"#/$defs/id","description":"The device it was read on."},"messageId":{"$ref":"#/$defs/id","description":"The last message read; absent: all."},"type":{"const":"message.read"},"userId":{"$ref":"#/$defs/id","description":"The person; the record's key."}},"required":["userId","conversationId"],"title":"message.read","type":"object"}"##,
    "preferences.updated":
      ##"{"allOf":[{"$ref":"#/$defs/producerEnvelope"}],"description":"The person changed how they want to be notified.","properties":{"preferences":{"$ref":"#/$defs/preferences"},"type":{"const":"preferences.updated"},"userId":{"$ref":"#/$defs/id","description":"The person; the record's key."}},"required":["userId","preferences"],"title":"preferences.updated","type":"object"}"##,
    "device.registered":
      ##"{"allOf":[{"$ref":"#/$defs/producerEnvelope"},{"$ref":"#/$defs/deviceRegistration"}],"description":"A device can be reached, by a token or by a subscription of Web Push. Send it at each launch and when the token or the subscription changes. Each belongs to the person who registered it last.","properties":{"type":{"const":"device.registered"}},"title":"device.registered","type":"object"}"##,
    "device.unregistered":
      ##"{"allOf":[{"$ref":"#/$defs/producerEnvelope"}],"description":"The person signed out on a device: nothing more is sent to it for them.","properties":{"deviceId":{"$ref":"#/$defs/id","description":"The device."},"type":{"const":"device.unregistered"},"userId":{"$ref":"#/$defs/id","description":"The person; the record's key."}},"required":["userId","deviceId"],"title":"device.unregistered","type":"object"}"##,
    "feedback.submitted":
      ##"{"allOf":[{"$ref":"#/$defs/producerEnvelope"}],"description":"The person said whether a notification helped.","properties":{"conversationId":{"$ref":"#/$defs/id","description":"The conversation."},"feedback":{"description":"What they said.","enum":["helpful","not_helpful"]},"messageId":{"$ref":"#/$defs/id","description":"The message they were notified of."},"type":{"const":"feedback.submitted"},"userId":{"$ref":"#/$defs/id","description":"The person; the record's key."}},"required":["userId","conversationId","messageId","feedback"],"title":"feedback.submitted","type":"object"}"##,
    "notification.received":
      ##"{"allOf":[{"$ref":"#/$defs/producerEnvelope"},{"$ref":"#/$defs/notificationReport"}],"description":"A device received a notification.","properties":{"type":{"const":"notification.received"}},"title":"notification.received","type":"object"}"##,
    "notification.opened":
      ##"{"allOf":[{"$ref":"#/$defs/producerEnvelope"},{"$ref":"#/$defs/notificationReport"}],"description":"The person opened a notification.","properties":{"type":{"const":"notification.opened"}},"title":"notification.opened","type":"object"}"##,
    "notification.dismissed":
      ##"{"allOf":[{"$ref":"#/$defs/producerEnvelope"},{"$ref":"#/$defs/notificationReport"}],"description":"The person dismissed a notification.","properties":{"type":{"const":"notification.dismissed"}},"title":"notification.dismissed","type":"object"}"##,
    "user.deleted":
      ##"{"allOf":[{"$ref":"#/$defs/producerEnvelope"}],"description":"The person's account is gone: what is kept of them is erased, and what waits for them is cancelled. Their later events are refused until a later device.registered.","properties":{"type":{"const":"user.deleted"},"userId":{"$ref":"#/$defs/id","description":"The person; the record's key."}},"required":["userId"],"title":"user.deleted","type":"object"}"##,
  ]

  /// The definitions that the schemas share.
  static let shared: [String: String] = [
    "appVersion":
      ##"{"description":"The app's version, for people: 64 characters; a longer one is cut. An empty one is ignored.","type":"string"}"##,
    "attachment":
      ##"{"description":"Something sent with, or instead of, text.","properties":{"kind":{"anyOf":[{"enum":["image","video","audio","file","location"]},{"type":"string"}],"description":"What it is. Any other kind, and none, is a file."},"url":{"$ref":"#/$defs/url","description":"Where it is."}},"type":"object"}"##,
    "conversationKind":
      ##"{"description":"direct: two people, a push is titled with the sender's name. group: any number, titled \"Sender in Group Name\".","enum":["direct","group"]}"##,
    "conversationSnapshot":
      ##"{"description":"A whole conversation as it is now: it replaces what was known before.","properties":{"kind":{"$ref":"#/$defs/conversationKind"},"members":{"$ref":"#/$defs/members"},"name":{"$ref":"#/$defs/name","description":"A group's name."}},"required":["kind","members"],"type":"object"}"##,
    "deviceRegistration":
      ##"{"dependentRequired":{"sealing":["token"]},"description":"A device that can be reached: by a token or by a subscription of Web Push, one of the two.","oneOf":[{"required":["token"]},{"required":["webPush"]}],"properties":{"appVersion":{"$ref":"#/$defs/appVersion"},"deviceId":{"$ref":"#/$defs/id","description":"The device; the same for as long as the app is installed."},"locale":{"$ref":"#/$defs/locale","description":"The device's language as BCP 47."},"platform":{"$ref":"#/$defs/platform"},"projectId":{"$ref":"#/$defs/projectId"},"renders":{"description":"The app draws notifications itself: pushes have data alone. Counts on Android; absent: no.","type":"boolean"},"sealing":{"$ref":"#/$defs/sealingKeys"},"token":{"$ref":"#/$defs/token"},"userId":{"$ref":"#/$defs/id","description":"The person signed in on the device."},"webPush":{"$ref":"#/$defs/webPushSubscription"}},"required":["userId","deviceId","platform"],"type":"object"}"##,
    "envelope":
      ##"{"description":"What every record begins with. Unknown fields are allowed everywhere: readers ignore them.","properties":{"eventId":{"$ref":"#/$defs/eventId"},"schemaVersion":{"const":1,"description":"The version of the record formats. Readers refuse any other."},"type":{"description":"What happened; it chooses the schema.","type":"string"}},"required":["schemaVersion","type","eventId","occurredAt"],"type":"object"}"##,
    "eventId":
      ##"{"description":"The producer's name of this event: 1 to 128 characters (code points), without control characters. The same when the same event is sent again: then it has no second effect.","maxLength":128,"minLength":1,"pattern":"^[^\\u0000-\\u001F\\u007F-\\u009F]*$","type":"string"}"##,
    "fallback":
      ##"{"description":"What applies once the hourly analyses are used up: the fixed rule set, everything at medium priority, nothing.","enum":["simple_rules","notify_all","suppress_all"]}"##,
    "id":
      ##"{"description":"An id: 1 to 256 bytes of UTF-8, without control characters. (maxLength counts characters; the limit is in bytes.)","maxLength":256,"minLength":1,"pattern":"^[^\\u0000-\\u001F\\u007F-\\u009F]*$","type":"string"}"##,
    "level":
      ##"{"description":"Which messages of a conversation are shown. all: each alerts. smart: by priority. mentions: mentions, replies to the person and their keywords alert, the rest changes the badge. none: messages only change the badge.","enum":["all","smart","mentions","none"]}"##,
    "locale":
      ##"{"description":"A language as BCP 47, e.g. de-CH, or a locale as ICU, Java or POSIX write it. What names no language is ignored.","type":"string"}"##,
    "member":
      ##"{"description":"A participant of a conversation.","properties":{"avatarUrl":{"$ref":"#/$defs/url","description":"Where their picture is."},"displayName":{"$ref":"#/$defs/name","description":"The name shown to others; absent: the user id is shown."},"userId":{"$ref":"#/$defs/id","description":"The person."}},"required":["userId"],"type":"object"}"##,
    "members":
      ##"{"description":"Everyone who takes part, nobody twice.","items":{"$ref":"#/$defs/member"},"maxItems":20000,"type":"array","uniqueItems":true}"##,
    "membershipChange":
      ##"{"description":"Somebody who joined or left.","properties":{"avatarUrl":{"$ref":"#/$defs/url","description":"Where their picture is."},"conversationId":{"$ref":"#/$defs/id","description":"The conversation; the record's key."},"displayName":{"$ref":"#/$defs/name","description":"Their name; absent: their user id is shown."},"userId":{"$ref":"#/$defs/id","description":"Who joined or left."}},"required":["conversationId","userId"],"type":"object"}"##,
    "messageRevision":
      ##"{"description":"A message that changed.","properties":{"conversationId":{"$ref":"#/$defs/id","description":"The conversation; the record's key."},"messageId":{"$ref":"#/$defs/id","description":"The message."},"text":{"$ref":"#/$defs/text","description":"What it says now."}},"required":["conversationId","messageId"],"type":"object"}"##,
    "milliseconds":
      ##"{"description":"A time: whole milliseconds since 1970-01-01T00:00:00Z, to the end of 9999.","maximum":253402300799999,"minimum":0,"type":"integer"}"##,
    "mutedConversation":
      ##"{"description":"A conversation the person does not want to hear of.","properties":{"conversationId":{"$ref":"#/$defs/id","description":"The conversation."},"exceptMentions":{"description":"Whether a mention of the person, or an answer to them, is let through all the same; absent: no.","type":"boolean"},"until":{"$ref":"#/$defs/producerTime","description":"When it ends; absent: never."}},"required":["conversationId"],"type":"object"}"##,
    "name":
      ##"{"description":"A name as people see it, of 256 characters (code points); a longer one is cut. An empty one is ignored.","type":"string"}"##,
    "notificationReport":
      ##"{"description":"What became of a notification on a device.","properties":{"banner":{"description":"true: the app has shown the message as a banner. Its push, where it still waits for this device, is not sent.","type":"boolean"},"conversationId":{"$ref":"#/$defs/id","description":"The conversation it was about."},"deviceId":{"$ref":"#/$defs/id","description":"The device."},"messageId":{"$ref":"#/$defs/id","description":"The message it was about."},"pushId":{"$ref":"#/$defs/id","description":"The push, from its data."},"sentAt":{"$ref":"#/$defs/milliseconds","description":"When the message was written, from the push's timestamp."},"userId":{"$ref":"#/$defs/id","description":"The person; the record's key."}},"required":["userId","deviceId","pushId"],"type":"object"}"##,
    "platform":
      ##"{"description":"The system a device runs: ios is reached through APNs, web by Web Push.","enum":["ios","android","web","desktop"]}"##,
    "preferences":
      ##"{"description":"How a person wants to be notified: the whole, or the fields that change. What it does not name stays.","properties":{"badgeMode":{"description":"What the badge counts: conversations with something unread, or unread messages.","enum":["conversations","messages"]},"burstSeconds":{"description":"For so many seconds after an alert in a group, its messages are shown without one, unless they mention, answer or name the person, come from a starred sender, or matter more than the last alert. 0: each may alert. Default: 60.","maximum":3600,"minimum":0,"type":"integer"},"conversationLevels":{"anyOf":[{"type":"array"},{"anyOf":[{"required":["add"]},{"required":["remove"]}],"type":"object"}],"description":"All conversations with a level of their own, at most 200. That of a conversation the person leaves is forgotten. As an object with add and remove: a change, last writer for each element; remove takes ids of conversations.","items":{"description":"A conversation with a level of its own.","properties":{"conversationId":{"$ref":"#/$defs/id","description":"The conversation."},"level":{"$ref":"#/$defs/level"}},"required":["conversationId","level"],"type":"object"},"maxItems":200,"properties":{"add":{"description":"Elements to put in, in place of those with the same id.","items":{"description":"A conversation with a level of its own.","properties":{"conversationId":{"$ref":"#/$defs/id","description":"The conversation."},"level":{"$ref":"#/$defs/level"}},"required":["conversationId","level"],"type":"object"},"maxItems":200,"type":"array"},"remove":{"description":"Ids to take out.","items":{"$ref":"#/$defs/id"},"maxItems":200,"type":"array"}}},"dailyAlerts":{"anyOf":[{"maximum":1000,"minimum":0,"type":"integer"},{"type":"null"}],"description":"The most alerts in a day; what does not fit is shown without a sound. Urgent messages, mentions, and direct messages of starred senders, are not counted. null: what the operator's policy says, as for those who never said."},"defaultLevels":{"description":"The levels of conversations without one of their own. A kind that is not named stays. Default: direct all, group smart, or what the operator's policy says.","properties":{"direct":{"$ref":"#/$defs/level"},"group":{"$ref":"#/$defs/level"}},"type":"object"},"digestTimes":{"anyOf":[{"items":{"$ref":"#/$defs/timeOfDay"},"maxItems":12,"type":"array"},{"type":"null"}],"description":"When the person catches up on what was held back, at most 12 times of the day. None: never. null: when quiet hours end, as for those who never said."},"enabled":{"description":"Whether the person wants notifications at all.","type":"boolean"},"fallback":{"$ref":"#/$defs/fallback"},"keywords":{"anyOf":[{"type":"array"},{"anyOf":[{"required":["add"]},{"required":["remove"]}],"type":"object"}],"description":"All words that matter to the person: at most 50, and 1,024 bytes as JSON. As an object with add and remove: a change, last writer for each element; remove takes the words.","items":{"description":"1 to 64 characters, without control characters.","maxLength":64,"minLength":1,"pattern":"^[^\\u0000-\\u001F\\u007F-\\u009F]*$","type":"string"},"maxItems":50,"properties":{"add":{"description":"Elements to put in, in place of those with the same id.","items":{"description":"1 to 64 characters, without control characters.","maxLength":64,"minLength":1,"pattern":"^[^\\u0000-\\u001F\\u007F-\\u009F]*$","type":"string"},"maxItems":50,"type":"array"},"remove":{"description":"Words to take out.","items":{"maxLength":64,"minLength":1,"type":"string"},"maxItems":50,"type":"array"}}},"learnSince":{"$ref":"#/$defs/milliseconds","description":"What was learned from feedback and behaviour up to this time is forgotten. Set to now, learning starts anew; set ahead, nothing is learned until then."},"locale":{"$ref":"#/$defs/locale","description":"The person's language as BCP 47."},"maxAnalysesPerHour":{"description":"Smart analyses in an hour.","maximum":10000,"minimum":0,"type":"integer"},"muted":{"anyOf":[{"type":"array"},{"anyOf":[{"required":["add"]},{"required":["remove"]}],"type":"object"}],"description":"All muted conversations: at most 100, and 7,500 bytes as JSON. As an object with add and remove: a change, last writer for each element; remove takes ids of conversations.","items":{"$ref":"#/$defs/mutedConversation"},"maxItems":100,"properties":{"add":{"description":"Elements to put in, in place of those with the same id.","items":{"$ref":"#/$defs/mutedConversation"},"maxItems":100,"type":"array"},"remove":{"description":"Ids to take out.","items":{"$ref":"#/$defs/id"},"maxItems":100,"type":"array"}}},"mutedSenders":{"anyOf":[{"type":"array"},{"anyOf":[{"required":["add"]},{"required":["remove"]}],"type":"object"}],"description":"All people of whom nothing is shown, at most 100. As an object with add and remove: a change, last writer for each element; remove takes ids of people.","items":{"$ref":"#/$defs/id"},"maxItems":100,"properties":{"add":{"description":"Elements to put in, in place of those with the same id.","items":{"$ref":"#/$defs/id"},"maxItems":100,"type":"array"},"remove":{"description":"Ids to take out.","items":{"$ref":"#/$defs/id"},"maxItems":100,"type":"array"}}},"quietHours":{"anyOf":[{"$ref":"#/$defs/quietHours"},{"type":"null"}],"description":"Quiet hours; null takes them away."},"showPreviews":{"description":"Whether what was written may appear in a notification.","type":"boolean"},"starredSenders":{"anyOf":[{"type":"array"},{"anyOf":[{"required":["add"]},{"required":["remove"]}],"type":"object"}],"description":"All people whose messages matter more: at most 100, and 2,500 bytes as JSON. As an object with add and remove: a change, last writer for each element; remove takes ids of people.","items":{"$ref":"#/$defs/id"},"maxItems":100,"properties":{"add":{"description":"Elements to put in, in place of those with the same id.","items":{"$ref":"#/$defs/id"},"maxItems":100,"type":"array"},"remove":{"description":"Ids to take out.","items":{"$ref":"#/$defs/id"},"maxItems":100,"type":"array"}}},"timeZone":{"$ref":"#/$defs/timeZone","description":"The person's time zone, by which digestTimes and days go. Never set: that of quiet hours, else UTC."}},"type":"object"}"##,
    "producerEnvelope":
      ##"{"$ref":"#/$defs/envelope","description":"The envelope of chat.events and user.events.","properties":{"occurredAt":{"$ref":"#/$defs/producerTime","description":"When it happened, by the producer's clock."}}}"##,
    "producerTime":
      ##"{"anyOf":[{"$ref":"#/$defs/milliseconds"},{"$ref":"#/$defs/rfc3339"}],"description":"A time as producers may write it: milliseconds since the epoch, or RFC 3339."}"##,
    "projectId":
      ##"{"description":"The id or number of the FCM project the token belongs to; absent: the dispatcher's own.","maxLength":128,"minLength":1,"pattern":"^[a-z0-9][a-z0-9.:-]*$","type":"string"}"##,
    "publicKey":
      ##"{"description":"The device's public key: a point of P-256, 65 bytes uncompressed, in base64url without padding.","pattern":"^[A-Za-z0-9_-]{87}$","type":"string"}"##,
    "quietHours":
      ##"{"description":"A daily span without interruption, in the person's own time. End before start: over midnight. Equal: none.","properties":{"end":{"$ref":"#/$defs/timeOfDay","description":"The minute it ends at, exclusive."},"start":{"$ref":"#/$defs/timeOfDay","description":"First minute, inclusive."},"timeZone":{"$ref":"#/$defs/timeZone","description":"The zone of start and end; absent: the person's timeZone, or else UTC."}},"required":["start","end"],"type":"object"}"##,
    "rfc3339":
      ##"{"description":"A time as RFC 3339, with Z or an offset, e.g. 2026-11-21T15:40:00.250Z. Digits beyond milliseconds are cut.","format":"date-time","pattern":"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt ]([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$","type":"string"}"##,
    "sealingKeys":
      ##"{"description":"Keys beside a token: what the app shows goes sealed for them, so that the push service cannot read it. Never logged.","properties":{"auth":{"$ref":"#/$defs/sharedSecret"},"p256dh":{"$ref":"#/$defs/publicKey"}},"required":["p256dh","auth"],"type":"object"}"##,
    "sharedSecret":
      ##"{"description":"What device and sender share: 16 bytes in base64url without padding.","pattern":"^[A-Za-z0-9_-]{22}$","type":"string"}"##,
    "text":
      ##"{"description":"What a message says, at most 65,536 bytes of UTF-8.","maxLength":65536,"type":"string"}"##,
    "timeOfDay":
      ##"{"description":"A minute of the day as HH:MM, 00:00 to 23:59.","pattern":"^([01][0-9]|2[0-3]):[0-5][0-9]$","type":"string"}"##,
    "timeZone":
      ##"{"description":"Name of the IANA time zone database, e.g. Europe/Berlin, or UTC: no abbreviation, and no offset.","maxLength":64,"minLength":1,"pattern":"^[A-Za-z][A-Za-z0-9_+:/-]*$","type":"string"}"##,
    "token":
      ##"{"description":"FCM's registration token: 1 to 4,096 bytes. Never logged.","maxLength":4096,"minLength":1,"pattern":"^[^\\u0000-\\u001F\\u007F-\\u009F]*$","type":"string"}"##,
    "url":
      ##"{"description":"A URL: 1 to 2,048 bytes of UTF-8, without control characters. Any other value is ignored.","type":"string"}"##,
    "webPushSubscription":
      ##"{"description":"A subscription of Web Push or UnifiedPush, in place of a token. Never logged: whoever knows it can push.","properties":{"auth":{"$ref":"#/$defs/sharedSecret"},"endpoint":{"description":"The URL that pushes are posted to: https, at a public address. Operators can limit the hosts, and allow http and private addresses.","maxLength":2048,"minLength":1,"pattern":"^[hH][tT][tT][pP][sS]?://[!-~]*$","type":"string"},"p256dh":{"$ref":"#/$defs/publicKey"}},"required":["endpoint","p256dh","auth"],"type":"object"}"##,
  ]
}
