import NudgeSchema

/// The description of the HTTP API (OpenAPI 3.1), generated from the limits, codes and schemas in the code. `Schemas/openapi.yaml` is the
/// same in YAML; a test writes and compares it.
enum OpenAPIDocument {
  /// The document as JSON.
  static let json: [UInt8] = Array(text.utf8)

  static func list(_ names: some Sequence<String>) -> String {
    "[" + names.map { "\"\($0)\"" }.joined(separator: ",") + "]"
  }

  private static let types = (ChatEventBody.types + UserEventBody.types).map(\.rawValue)
  private static let codes = list(DeadLetterCode.allCases.map(\.rawValue) + ["forbidden", "invalid_encoding"])

  private static let event = """
    {"description": "An event: what would be the value of a record on chat.events or user.events. type says which.",\
    "oneOf": [\(types.map { "{\"$ref\": \"#/components/schemas/\($0)\"}" }.joined(separator: ","))],\
    "discriminator": {"propertyName": "type", "mapping": {\
    \(types.map { "\"\($0)\": \"#/components/schemas/\($0)\"" }.joined(separator: ","))}}}
    """

  private static func batch(_ description: String) -> String {
    """
    {"description": "\(description)", "content": {"application/json": {"schema": \
    {"$ref": "#/components/schemas/Results"}}}}
    """
  }

  static func error(_ description: String, _ headers: String = "") -> String {
    """
    {"description": "\(description)", \(headers)"content": {"application/json": {"schema": \
    {"$ref": "#/components/schemas/Error"}}}}
    """
  }

  private static func batchOrError(_ description: String, _ headers: String = "") -> String {
    """
    {"description": "\(description)", \(headers)"content": {"application/json": {"schema": {"anyOf": [\
    {"$ref": "#/components/schemas/Results"}, {"$ref": "#/components/schemas/Error"}]}}}}
    """
  }

  private static let unacknowledged = """
    Kafka has not acknowledged all of them within 5 s, or the service stops. Events with the status unknown may have been published: \
    send all again.
    """

  private static let retryAfter = """
    "headers": {"Retry-After": {"required": true, "description": "Seconds to wait before the same events are sent again.", \
    "schema": {"type": "integer", "minimum": 1}}},
    """

  private static let noParameters = error("There is a query parameter, and none is known.")

  static let retryLater = """
    "headers": {"Retry-After": {"required": true, "description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 1}}},
    """

  static let challenge = """
    "headers": {"WWW-Authenticate": {"required": true, "schema": {"type": "string"}}},
    """

  private static let traceparent = """
    {"name": "traceparent", "in": "header", "required": false, \
    "description": "W3C trace context; goes along with all that the events cause. One that is malformed is ignored.", \
    "schema": {"type": "string"}}
    """

  private static let text = """
    {
      "openapi": "3.1.0",
      "info": {
        "title": "Nudge: events over HTTP",
        "version": "1",
        "description": "The HTTP API of nudge-ingest (--http-address). docs/producers.md describes its use.",
        "license": {"name": "see the repository", "url": "https://nudge.example/license"}
      },
      "servers": [{"url": "/", "description": "wherever --http-address is"}],
      "security": [],
      "tags": [
        {"name": "events", "description": "Publishing events."},
        {"name": "live", "description": "What happens inside an app."},
        {"name": "people", "description": "What the pipeline knows of a person."},
        {"name": "documents", "description": "What may be sent."}
      ],
      "paths": {
        "/v1/events": {
          "post": {
            "operationId": "publishEvents",
            "tags": ["events"],
            "summary": "Publishes events",
            "description": "One event, or up to \(RequestBody.maxEvents) of them, in at most \(RequestBody.maxBytes) bytes, \
    before and after Content-Encoding: gzip. An event is accepted once Kafka has acknowledged it. Sending the same events \
    again, with the same event ids, has no second effect. With a user's token: user events of that user, and message.created \
    that they sent; nothing else.",
            "security": [{"apiKey": []}, {"userToken": []}],
            "parameters": [\(traceparent), \(QueryParameter.json(EventsEndpoint.parameters))],
            "requestBody": {
              "required": true,
              "content": {
                "\(RequestBody.json)": {"schema": {"oneOf": [
                  {"$ref": "#/components/schemas/Event"},
                  {"type": "array", "minItems": 1, "maxItems": \(RequestBody.maxEvents), \
    "items": {"$ref": "#/components/schemas/Event"}}
                ]}},
                "\(RequestBody.lines)": {"schema": {"type": "string", "description": "An event a line."}}
              }
            },
            "responses": {
              "202": \(batch("All are accepted: Kafka has acknowledged each.")),
              "207": \(batch("Some are accepted; results says which, and why the others are not.")),
              "400": \(batchOrError("None is accepted, the body is not JSON, wait cannot be read, or a query parameter is not known.")),
              "401": \(error("No credentials, or wrong ones.", challenge)),
              "403": \(batch("A user's token, and no event that is theirs.")),
              "413": \(error("The body, or what it inflates to, is too large, or has too many events: send fewer at once.")),
              "415": \(error("The Content-Type or Content-Encoding is not supported.")),
              "429": \(error("Over the caller's rate (--http-rate, --http-user-rate), or too many events wait for Kafka.", retryAfter)),
              "503": \(batchOrError(unacknowledged, retryAfter))
            }
          }
        },
        "/v1/rejections": {
          "get": {
            "operationId": "listRejections",
            "tags": ["events"],
            "summary": "Events of the caller that were accepted and refused later",
            "description": "For backends, of their own API key: what ingest refused for what only its state knows, such as \
    unknown_conversation. One instance remembers the last 24 hours, and \(RejectionLog.perProducer) of each key. Cursors mean the same \
    on every instance.",
            "security": [{"apiKey": []}],
            "parameters": [\(QueryParameter.json(RejectionsEndpoint.parameters))],
            "responses": {
              "200": {"description": "Rejections, one a line, the earliest first; at most \(RejectionLog.page).", "headers": {\
    "Nudge-Next": {"required": true, "description": "since for the next request.", "schema": {"type": "string"}}, \
    "Nudge-Forgotten": {"required": false, "description": "Rejections up to this time may be missing: there were more than are remembered.", \
    "schema": {"type": "string", "format": "date-time"}}}, "content": {"\(RequestBody.lines)": {"schema": {"type": "string", \
    "description": "A Rejection a line."}}}},
              "400": \(error("since or wait cannot be read, a query parameter is not known, or the query's percent escapes are broken.")),
              "401": \(error("No credentials, or wrong ones.", challenge)),
              "403": \(error("A user's token.")),
              "429": \(error("Over the caller's rate, or too many requests wait.")),
              "503": \(error("The rejections are not read yet, or cannot be read, or the service stops.", retryAfter))
            }
          }
        },
        "/v1/live": {
          "get": {
            "operationId": "streamEvents",
            "tags": ["live"],
            "summary": "What happens inside a user's app, as it happens",
            "description": "Server-Sent Events for the user of the token, until it expires. The records of nudge.banners: their type is \
    the event's name, their JSON its data. reset: something may be missing, ask anew. end: open another stream. A comment comes every 15 s. \
    The id of the latest event or comment, as Last-Event-ID, goes on there at any instance. With an API key: the records of nudge.decisions \
    as events decision, of all people or of one. A user's token needs --jwt-keys-file.",
            "security": [{"userToken": []}, {"apiKey": []}],
            "parameters": [
              \(QueryParameter.json(LiveEndpoint.parameters)),
              {"name": "Last-Event-ID", "in": "header", "required": false, "description": "Where to go on. Default: now.", \
    "schema": {"type": "string"}}
            ],
            "responses": {
              "200": {"description": "A stream.", "content": {"text/event-stream": {"schema": {"type": "string"}}}},
              "400": \(error("deviceId or userId is no id, answers is neither true nor false or has no deviceId, a query parameter is not known, or the query's percent escapes are broken.")),
              "401": \(error("No credentials, or wrong ones.", challenge)),
              "403": \(error("A token that does not expire.")),
              "429": \(error("Over the caller's rate, or the user or key has the most streams open that one may have.", retryLater)),
              "503": \(error("The topic is not read yet or cannot be read, the instance has the most streams it may have, or it stops.", retryLater))
            }
          }
        },
        \(people)
        "/v1/schemas": {
          "get": {
            "operationId": "listSchemas",
            "tags": ["documents"],
            "summary": "Lists the types of events",
            "responses": {
              "200": {"description": "Every type of event, with its topic in Kafka and its schema's address.", "content": {\
    "application/json": {"schema": {"$ref": "#/components/schemas/SchemaList"}}}},
              "400": \(noParameters)
            }
          }
        },
        "/v1/schemas/{type}": {
          "get": {
            "operationId": "getSchema",
            "tags": ["documents"],
            "summary": "The JSON Schema of a type of event",
            "parameters": [{"name": "type", "in": "path", "required": true, "schema": {"type": "string", "minLength": 1}, \
    "example": "message.created"}],
            "responses": {
              "200": {"description": "A JSON Schema (2020-12) that refers to nothing outside.", "content": {\
    "application/schema+json": {"schema": {"type": "object"}}}},
              "400": \(error("The percent escapes are broken, or there is a query parameter, and none is known.")),
              "404": \(error("There is no event of that type."))
            }
          }
        },
        "/v1/openapi.json": {
          "get": {
            "operationId": "getDescription",
            "tags": ["documents"],
            "summary": "This document",
            "responses": {
              "200": {"description": "OpenAPI 3.1.", "content": {"application/json": {"schema": {"type": "object"}}}},
              "400": \(noParameters)
            }
          }
        }
      },
      "components": {
        "securitySchemes": {
          "apiKey": {"type": "http", "scheme": "bearer", "description": "A backend's API key (--api-keys-file)."},
          "userToken": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": "A user's token, RS256 or \
    ES256, with exp and sub (--jwt-keys-file)."}
        },
        "schemas": {
          "Event": \(event),
          "Results": {
            "type": "object",
            "required": ["accepted", "rejected", "results"],
            "properties": {
              "accepted": {"type": "integer", "minimum": 0, "description": "How many Kafka has acknowledged."},
              "rejected": {"type": "integer", "minimum": 0, "description": "How many are not published."},
              "results": {"type": "array", "minItems": 1, "maxItems": \(RequestBody.maxEvents), \
    "items": {"$ref": "#/components/schemas/Result"}},
              "code": {"type": "string", "description": "Where none is accepted: why, of the first."},
              "message": {"type": "string", "description": "The same for people."}
            }
          },
          "Result": {
            "type": "object",
            "required": ["index", "eventId", "status"],
            "properties": {
              "index": {"type": "integer", "minimum": 0, "description": "Which event of the request, from 0."},
              "eventId": {"type": ["string", "null"], "description": "Its eventId; null where it could not be read."},
              "status": {"enum": ["accepted", "rejected", "unknown"], "description": "unknown only with 503."},
              "code": {"enum": \(codes), "description": "Why it is rejected: a code of the dead letters, or forbidden."},
              "message": {"type": "string", "description": "The same for people: names the field and the rule."},
              "ignored": {"type": "string", "description": "The paths of fields that are ignored, because what they hold does not fit and \
    the event does not depend on them, or because preferences.updated and device.registered have no such field."},
              "fate": {
                "type": "object",
                "description": "With wait=decision: what the pipeline made of the event within 2 s.",
                "required": ["complete", "decisions"],
                "properties": {
                  "complete": {"type": "boolean", "description": "Everybody is decided for, perhaps as deferred, or the event is refused."},
                  "known": {"type": "boolean", "description": "true: it is a retry, which has no effect of its own. What follows is what became of \
    the first event with its id."},
                  "code": {"type": "string", "description": "Why it is refused."},
                  "message": {"type": "string", "description": "The same for people."},
                  "decisions": {"type": "array", "items": {
                    "type": "object",
                    "required": ["userId", "outcome", "reason"],
                    "properties": {"userId": {"type": "string"}, "outcome": {"enum": ["notify", "suppress", "deferred"]}, \
    "reason": {"type": "string"}}
                  }}
                }
              }
            }
          },
          "Rejection": {
            "type": "object",
            "required": ["producer", "refusedAt", "code", "message"],
            "properties": {
              "producer": {"type": "string", "description": "The name of the API key."},
              "refusedAt": {"type": "integer", "description": "When, in milliseconds since the epoch."},
              "code": {"type": "string", "description": "Why, as in docs/producers.md."},
              "message": {"type": "string", "description": "The same for people."},
              "topic": {"type": "string"},
              "key": {"type": "string", "description": "The conversation, or the person."},
              "type": {"type": "string", "description": "The event's type."},
              "eventId": {"type": "string", "description": "The event's id: what is corrected may keep it."},
              "replayId": {"type": "string", "description": "The operator's replay that published it again."}
            }
          },
          \(peopleSchemas)
          "Error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {"code": {"type": "string"}, "message": {"type": "string"}}
          },
          "SchemaList": {
            "type": "object",
            "required": ["schemas"],
            "properties": {"schemas": {"type": "array", "items": {
              "type": "object",
              "required": ["type", "topic", "url"],
              "properties": {
                "type": {"enum": \(list(types))},
                "topic": {"enum": ["chat.events", "user.events"]},
                "url": {"type": "string"}
              }
            }}}
          },
          \(EventSchemas.components)
        }
      }
    }
    """
}

/// A query parameter of an endpoint. The endpoint's route and the OpenAPI document are made from the same list.
struct QueryParameter: Sendable {
  let name: String
  let description: String
  /// Its JSON Schema.
  let schema: String
  /// An example as JSON.
  var example: String?

  /// The parameter in the OpenAPI document.
  private var json: String {
    """
    {"name": "\(name)", "in": "query", "required": false, "description": "\(description)", "schema": \(schema)\
    \(example.map { ", \"example\": \($0)" } ?? "")}
    """
  }

  /// The parameters in the OpenAPI document, as elements of an array.
  static func json(_ parameters: [QueryParameter]) -> String { parameters.map(\.json).joined(separator: ", ") }
}

extension [QueryParameter] {
  /// The names, for a route.
  var names: [String] { map(\.name) }
}
