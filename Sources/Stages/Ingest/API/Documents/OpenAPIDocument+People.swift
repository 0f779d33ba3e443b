import NudgeSchema
import Wording

/// `GET /v1/me` and the other calls about a person.
extension OpenAPIDocument {
  private static let unavailable = error(
    """
    No answer came within \(PersonEndpoint.patience.components.seconds) s: the person's partition changes its owner, the services are \
    behind, or answers cannot be read.
    """, retryLater)

  private static let after = QueryParameter.json(PersonEndpoint.parameters)

  private static func person(_ description: String) -> String {
    """
    {"description": "\(description)", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Person"}}}}
    """
  }

  /// The paths, each with a trailing comma.
  static let people = """
    "/v1/me": {
      "get": {
        "operationId": "getMe",
        "tags": ["people"],
        "summary": "What the pipeline knows of the user of the token",
        "description": "Answered by the analyzer that has the person's state, behind all events of theirs that were accepted before. Counts as \
    \(PersonEndpoint.cost) events of the rate.",
        "security": [{"userToken": []}],
        "parameters": [\(after)],
        "responses": {
          "200": \(person("The person.")),
          "400": \(error("after is no event id, a query parameter is not known, or the query's percent escapes are broken.")),
          "401": \(error("No credentials, or wrong ones.", challenge)),
          "403": \(error("An API key: ask for /v1/users/{id}.")),
          "404": \(error("Nothing is known of the user, or they were deleted.")),
          "429": \(error("Over the caller's rate, or too many questions wait.", retryLater)),
          "503": \(unavailable)
        }
      }
    },
    "/v1/me/preferences": {
      "patch": {
        "operationId": "changePreferences",
        "tags": ["people"],
        "summary": "Changes preferences of the user of the token, and says what is so then",
        "description": "Publishes preferences.updated with these fields, as POST /v1/events does. Fields that are not named stay as they are. A field \
    that is not known is refused, and null where the schema has none. Sending the same again changes nothing.",
        "security": [{"userToken": []}],
        "requestBody": {
          "required": true,
          "content": {
            "\(RequestBody.json)": {"schema": {"$ref": "#/components/schemas/preferences"}},
            "\(PersonEndpoint.mergePatch)": {"schema": {"$ref": "#/components/schemas/preferences"}}
          }
        },
        "responses": {
          "200": \(person("The person, with the change, unless a later one came before it.")),
          "400": \(error("The body is not JSON, has a preference that is not known or breaks a rule, or the query has a parameter: code and message say which.")),
          "401": \(error("No credentials, or wrong ones.", challenge)),
          "403": \(error("An API key: send preferences.updated.")),
          "404": \(error("The user was deleted.")),
          "413": \(error("The body has more than \(PersonEndpoint.changeBytes) bytes.")),
          "415": \(error("The Content-Type or Content-Encoding is not supported.")),
          "429": \(error("Over the caller's rate, or too many questions wait.", retryLater)),
          "503": \(error("The change may be taken or not: ask what is so, or send it again.", retryLater))
        }
      }
    },
    "/v1/users/{id}": {
      "get": {
        "operationId": "getUser",
        "tags": ["people"],
        "summary": "What the pipeline knows of a user",
        "description": "As GET /v1/me, for backends.",
        "security": [{"apiKey": []}],
        "parameters": [
          {"name": "id", "in": "path", "required": true, "schema": {"type": "string", "minLength": 1, "maxLength": \(SchemaLimits.idBytes)}, \
    "example": "ben"},
          \(after)
        ],
        "responses": {
          "200": \(person("The user.")),
          "400": \(error("The id or after breaks a rule, a query parameter is not known, or a percent escape is broken.")),
          "401": \(error("No credentials, or wrong ones.", challenge)),
          "403": \(error("A user's token: ask for /v1/me.")),
          "404": \(error("Nothing is known of the user, or they were deleted.")),
          "429": \(error("Over the caller's rate, or too many questions wait.", retryLater)),
          "503": \(unavailable)
        }
      }
    },
    """

  private static let time = #"{"type": "integer", "description": "Milliseconds since the epoch."}"#
  private static let count = #"{"type": "integer", "minimum": 0}"#
  private static let texts = #"{"type": "array", "items": {"type": "string"}}"#

  /// A preference: its value and its source.
  private static func field(_ value: String, orNull: Bool = false, _ description: String) -> String {
    """
    {"type": "object", "required": ["value", "source"], "description": "\(description)", "properties": {\
    "value": \(orNull ? "{\"anyOf\": [\(value), {\"type\": \"null\"}]}" : value), \
    "source": {"enum": ["person", "policy", "default"], "description": "Who set it; default: nobody."}, \
    "setAt": {"type": "integer", "description": "When the person set it, in milliseconds since the epoch."}}}
    """
  }

  private static func choice(_ names: some Sequence<String>) -> String { "{\"enum\": \(list(names))}" }

  private static let preferences: [(name: String, schema: String)] = [
    ("enabled", field(#"{"type": "boolean"}"#, "Whether the person wants notifications.")),
    (
      "quietHours",
      field(
        ##"{"$ref": "#/components/schemas/quietHours"}"##, orNull: true, "Only urgent messages notify in them."
      )
    ),
    ("maxAnalysesPerHour", field(count, "Smart analyses in an hour.")),
    ("fallback", field(choice(AnalysisFallback.allCases.map(\.rawValue)), "Once they are used up.")),
    (
      "muted",
      field(
        ##"{"type": "array", "items": {"$ref": "#/components/schemas/mutedConversation"}}"##, "Muted conversations.")
    ),
    ("starredSenders", field(texts, "Senders whose messages matter more.")),
    ("keywords", field(texts, "Words that matter to the person.")),
    ("badgeMode", field(choice(BadgeMode.allCases.map(\.rawValue)), "The unit of the badge.")),
    ("showPreviews", field(#"{"type": "boolean"}"#, "Whether texts may be in notifications.")),
    ("locale", field(#"{"type": "string"}"#, orNull: true, "Null: the device's.")),
    ("learnSince", field(time, orNull: true, "Feedback before counts for nothing.")),
    ("burstSeconds", field(count, "For how long after an alert a group is silent.")),
    (
      "defaultLevels",
      """
      {"type": "object", "required": ["direct", "group"], "properties": {\
      "direct": \(field(choice(NotificationLevel.allCases.map(\.rawValue)), "Of direct conversations.")), \
      "group": \(field(choice(NotificationLevel.allCases.map(\.rawValue)), "Of groups."))}}
      """
    ),
    (
      "conversationLevels",
      field(
        """
        {"type": "array", "items": {"type": "object", "required": ["conversationKey", "level"], "properties": {\
        "conversationId": {"type": "string", "description": "Absent where the person has no message of it."}, \
        "conversationKey": {"$ref": "#/components/schemas/Key"}, "level": \(choice(NotificationLevel.allCases.map(\.rawValue)))}}}
        """, "Conversations with a level of their own.")
    ),
    (
      "mutedSenders",
      field(
        ##"{"type": "array", "items": {"$ref": "#/components/schemas/Key"}}"##,
        "Senders of whom nothing is shown.")
    ),
    ("digestTimes", field(texts, orNull: true, "When the person catches up. Null: when quiet hours end.")),
    ("timeZone", field(#"{"type": "string"}"#, orNull: true, "Null: UTC.")),
    ("dailyAlerts", field(count, orNull: true, "The most alerts in a day. Null: there is no bound.")),
  ]

  /// The schemas, each with a trailing comma.
  static let peopleSchemas = """
    "Key": {"type": "string", "description": "Stands for an id: FNV-1a of its UTF-8 bytes in 64 bits, in hexadecimal.", "pattern": "^[0-9a-f]{1,16}$"},
    "Person": {
      "type": "object",
      "required": ["userId", "answeredAt", "preferences", "devices", "badge", "unread", "analyses", "catchUp", "heldBack"],
      "properties": {
        "userId": {"type": "string"},
        "answeredAt": \(time),
        "preferences": {
          "type": "object",
          "description": "As they are, each with where it comes from.",
          "required": \(list(preferences.map(\.name))),
          "properties": {\(preferences.map { "\"\($0.name)\": \($0.schema)" }.joined(separator: ", "))}
        },
        "devices": {"type": "array", "items": {
          "type": "object",
          "required": ["deviceId", "platform", "isReachable", "registeredAt", "lastSeenAt"],
          "properties": {
            "deviceId": {"type": "string"},
            "platform": \(choice(Platform.allCases.map(\.rawValue))),
            "isReachable": {"type": "boolean", "description": "false: it signed out, or its token is gone."},
            "pushService": {"type": "string", "description": "fcm, or the host of its push service; absent where it cannot be reached."},
            "appVersion": {"type": "string"},
            "locale": {"type": "string"},
            "registeredAt": \(time),
            "lastSeenAt": \(time)
          }
        }},
        "badge": {"type": "integer", "minimum": 0, "description": "The number on the app's icon."},
        "unread": {
          "type": "object",
          "required": ["messages", "conversations", "byConversation"],
          "properties": {
            "messages": \(count),
            "conversations": \(count),
            "byConversation": {"type": "array", "maxItems": 500, "description": "Those in which something happened last.", "items": {
              "type": "object",
              "required": ["conversationId", "unread"],
              "properties": {"conversationId": {"type": "string"}, "unread": {"type": "integer", "minimum": 1}}
            }}
          }
        },
        "analyses": {
          "type": "object",
          "description": "The smart analyses of this hour.",
          "required": ["used", "limit"],
          "properties": {"used": \(count), "limit": \(count), "windowEndsAt": \(time)}
        },
        "alerts": {
          "type": "object",
          "description": "The alerts of this day; absent where there is no bound.",
          "required": ["used", "limit"],
          "properties": {"used": \(count), "limit": \(count)}
        },
        "catchUp": {
          "type": "object",
          "description": "The next catch-up; without at there is none.",
          "required": ["isPlanned"],
          "properties": {"at": \(time), "isPlanned": {"type": "boolean", "description": "Whether something waits for it."}}
        },
        "heldBack": {
          "type": "object",
          "description": "What did not alert in the last 24 hours, of the latest 32 messages of each conversation.",
          "required": ["since", "count", "messages"],
          "properties": {
            "since": \(time),
            "count": \(count),
            "messages": {"type": "array", "maxItems": 50, "description": "The latest first.", "items": {
              "type": "object",
              "required": ["conversationId", "messageKey", "arrivedAt", "presentation", "reason", "text", "isRead"],
              "properties": {
                "conversationId": {"type": "string"},
                "messageKey": {"$ref": "#/components/schemas/Key"},
                "arrivedAt": \(time),
                "presentation": {"enum": \(list(["silent", "badge", "none"])), "description": "silent: it was shown without a sound. \
    badge: it counts on the badge alone. none: it does neither, because its sender is muted, or because it was written long before it arrived."},
                "reason": \(choice(HeldBackReason.allCases.map(\.rawValue))),
                "text": {"type": "string", "description": "The reason in the person's language."},
                "isRead": {"type": "boolean"}
              }
            }}
          }
        }
      }
    },
    """
}
