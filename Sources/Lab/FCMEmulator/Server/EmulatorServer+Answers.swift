internal import CNghttp2
internal import COpenSSL
internal import Dispatch
internal import Foundation
internal import Glibc
internal import Synchronization
internal import VirtualPhone

// Sends the answers.
extension EmulatorServer {
  func finish(_ exchange: StreamExchange) {
    let outcome = exchange.pending
    exchange.pending = nil
    guard let connection = exchange.connection, let outcome else {
      // The client is gone.
      idle.append(exchange)
      return
    }
    switch outcome {
    case .sent(let project), .lost(let project):
      submitName(exchange, project, connection)
    case .answer(let answer):
      exchange.appendAnswer(Array(answer.body.utf8))
      submit(exchange, answer.status, answer.headers, connection)
    case .brokenBody(let project):
      submitName(exchange, project, connection, broken: true)
      // A client that reads headers and reset at once may ignore the headers, so the reset is delayed.
      exchange.pending = .resetStream
      delayed.insert(exchange, due: Self.monotonic() + Self.breakAfter)
    case .hangAfterHeaders:
      exchange.appendAnswer(Self.nameEnd)
      exchange.withholdAnswer()
      submit(exchange, 200, [], connection)
    case .goAway(let project):
      submitName(exchange, project, connection)
      nghttp2_submit_goaway(
        connection.session, UInt8(NGHTTP2_FLAG_NONE.rawValue), exchange.stream, NGHTTP2_NO_ERROR.rawValue, nil, 0)
    case .resetStream:
      nghttp2_submit_rst_stream(
        connection.session, UInt8(NGHTTP2_FLAG_NONE.rawValue), exchange.stream, NGHTTP2_INTERNAL_ERROR.rawValue)
    case .resetConnection:
      connection.isClosing = true
      connection.closesWithReset = true
    case .hang:
      return
    }
    markDirty(connection)
  }

  func submitName(_ exchange: StreamExchange, _ project: Int, _ connection: Connection, broken: Bool = false) {
    messagesSent += 1
    exchange.appendAnswer(namePrefixes[project])
    exchange.appendAnswer(Array(String(messagesSent).utf8))
    exchange.appendAnswer(Self.nameEnd)
    if broken { exchange.breakAnswer() }
    submit(exchange, 200, [], connection)
  }

  /// Nanoseconds between a broken answer's last byte and its reset.
  static let breakAfter: UInt64 = 50_000_000
  static let nameEnd = Array("\"\n}\n".utf8)

  func submit(_ exchange: StreamExchange, _ status: Int, _ headers: [(String, String)], _ connection: Connection) {
    withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: 8 + headers.count) { fields in
      var count = 0
      func add(_ name: StaticString, _ value: UnsafeBufferPointer<UInt8>, isConstant: Bool) {
        fields[count] = nghttp2_nv(
          name: UnsafeMutablePointer(mutating: name.utf8Start),
          value: UnsafeMutablePointer(mutating: value.baseAddress), namelen: name.utf8CodeUnitCount,
          valuelen: value.count,
          flags: UInt8(
            NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | (isConstant ? NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue : 0)))
        count += 1
      }
      func add(_ name: StaticString, _ value: StaticString) {
        add(name, UnsafeBufferPointer(start: value.utf8Start, count: value.utf8CodeUnitCount), isConstant: true)
      }
      var statusText = String(status)
      var length = String(exchange.answerCount)
      // nghttp2 copies fields that are not constant before `submit` returns.
      statusText.withUTF8 { statusBytes in
        length.withUTF8 { lengthBytes in
          add(":status", statusBytes, isConstant: false)
          if !headers.contains(where: { $0.0 == "content-type" }) {
            add("content-type", "application/json; charset=UTF-8")
          }
          add("vary", "Origin")
          add("server", "ESF")
          add("cache-control", "private")
          if configuration.sendsContentLength { add("content-length", lengthBytes, isConstant: false) }
          submit(exchange, UnsafeMutableBufferPointer(rebasing: fields[...]), count, headers[...], connection)
        }
      }
    }
  }

  /// Adds the remaining fields and submits the answer. It is recursive because each field's bytes are valid only within its closure.
  func submit(
    _ exchange: StreamExchange, _ fields: UnsafeMutableBufferPointer<nghttp2_nv>, _ count: Int,
    _ headers: ArraySlice<(String, String)>, _ connection: Connection
  ) {
    guard var (name, value) = headers.first else {
      var body = nghttp2_data_provider()
      body.source.ptr = Unmanaged.passUnretained(exchange).toOpaque()
      body.read_callback = StreamExchange.readAnswer
      nghttp2_submit_response(connection.session, exchange.stream, fields.baseAddress, count, &body)
      return
    }
    name.withUTF8 { nameBytes in
      value.withUTF8 { valueBytes in
        fields[count] = nghttp2_nv(
          name: UnsafeMutablePointer(mutating: nameBytes.baseAddress),
          value: UnsafeMutablePointer(mutating: valueBytes.baseAddress), namelen: nameBytes.count,
          valuelen: valueBytes.count, flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue))
        submit(exchange, fields, count + 1, headers.dropFirst(), connection)
      }
    }
  }
}
