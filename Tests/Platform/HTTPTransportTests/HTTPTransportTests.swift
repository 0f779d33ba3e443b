@testable import FCMEmulator
import Foundation
import HTTPTransport
import Synchronization
import TestSupport
import Testing

@Suite("The HTTP/2 client against the FCM emulator", .timeLimit(.minutes(2)))
struct HTTPTransportTests {
  @Test("500 requests share two connections, over HTTP/2, and each gets its own answer")
  func multiplexing() async throws {
    let bench = try Bench(client: { $0.maxConnectionsPerHost = 2 })
    let answers = await bench.client.answers(to: (0..<500).map { bench.message(to: "device-\($0)") })
    #expect(answers.allSatisfy { $0.status == 200 })
    let names = try answers.map { String(decoding: try $0.get().body, as: UTF8.self) }
    #expect(Set(names).count == 500)
    #expect(try answers.allSatisfy { try $0.get().httpVersion == .http2 })
    #expect(bench.emulator.counters.connections <= 2)
    #expect(bench.emulator.counters.maxStreams > 1)
    #expect(bench.emulator.counters.maxStreams <= 100)
    #expect(bench.emulator.counters.distinctTokens == 500)
    let statistics = bench.client.statistics
    #expect(statistics.requests == 500)
    #expect(statistics.openedConnections <= 2)
    bench.end()
    #expect(bench.client.statistics.responses == 500)
    #expect(bench.client.statistics.openConnections == 0)
  }

  @Test("Plain HTTP/2 with prior knowledge works without TLS")
  func plain() async throws {
    let bench = try Bench()
    let base = try #require(bench.emulator.plainURL)
    let response = try await bench.client.answer(to: bench.message(base: base)).get()
    #expect(response.status == 200)
    #expect(response.httpVersion == .http2)
    bench.end()
  }

  @Test("A GET has no body, and the answer's body comes whole")
  func get() async throws {
    let bench = try Bench()
    let request = HTTPRequest(method: .get, url: bench.emulator.url + "/emulator/stats", body: [1, 2, 3])
    let response = try await bench.client.answer(to: request).get()
    #expect(response.status == 200)
    #expect(String(decoding: response.body, as: UTF8.self).hasPrefix("{\"requests\":0,"))
    bench.end()
  }

  @Test("More than a thousand requests to a server that punishes resets: none fails, whatever the libcurl")
  func retirement() async throws {
    // Without content-length an old libcurl resets every finished stream; nghttp2 then ends the connection after 1,000.
    let bench = try Bench(emulator: FCMEmulatorConfiguration(sendsContentLength: false))
    let answers = await bench.client.answers(to: (0..<5_000).map { bench.message(to: "device-\($0)") })
    let failures = answers.filter { $0.status != 200 }
    #expect(failures.isEmpty, "\(failures.first.map { "\($0)" } ?? "")")
    #expect(bench.emulator.counters.byStatus == [200: 5_000])
    if HTTPClient.resetsFinishedStreams {
      // The danger was real: more resets than one connection would have survived.
      #expect(bench.emulator.counters.streamsReset > 1_000)
      #expect(bench.client.statistics.retiredConnections > 0)
    } else {
      #expect(bench.client.statistics.retiredConnections == 0)
    }
    bench.end()
  }

  @Test("transfers of a burst are freed once they are unneeded, and a later burst is served")
  func trims() async throws {
    let bench = try Bench(client: { $0.idleTransferLifetime = .milliseconds(20) })
    for _ in 0..<2 {
      let answers = await bench.client.answers(to: (0..<60).map { bench.message(to: "device-\($0)") })
      #expect(answers.allSatisfy { $0.status == 200 })
      #expect(try await eventually { bench.client.statistics.transfers == 0 })
    }
    bench.end()

    let kept = try Bench(client: { $0.idleTransferLifetime = .seconds(3600) })
    _ = await kept.client.answers(to: (0..<60).map { kept.message(to: "device-\($0)") })
    let needed = kept.client.statistics.transfers
    #expect((1...60).contains(needed))
    // One at a time needs one: no new ones are made beside those that are free.
    for _ in 0..<5 { #expect(await kept.client.answer(to: kept.message()).status == 200) }
    #expect(kept.client.statistics.transfers == needed)
    kept.end()
  }

  @Test("A set of connections is replaced after its requests and after its age, and nothing fails")
  func retirementByCountAndAge() async throws {
    let counted = try Bench(client: {
      $0.maxConnectionsPerHost = 1
      $0.maxConcurrentStreams = 10
      $0.maxRequestsPerConnection = 50
    })
    let answers = await counted.client.answers(to: (0..<400).map { counted.message(to: "device-\($0)") })
    #expect(answers.allSatisfy { $0.status == 200 })
    // 400 requests with at most 50 on each.
    #expect(counted.emulator.counters.connections >= 8)
    counted.end()

    let aged = try Bench(client: {
      $0.connectionLifetime = .milliseconds(20)
      $0.lifetimeJitter = { 0.5 }
    })
    #expect(await aged.client.answer(to: aged.message()).status == 200)
    #expect(try await eventually { aged.client.statistics.retiredConnections == 1 })
    #expect(try await eventually { aged.client.statistics.openConnections == 0 })
    #expect(await aged.client.answer(to: aged.message()).status == 200)
    #expect(aged.emulator.counters.connections == 2)
    aged.end()
  }

  @Test("A hanging answer is a time-out that may have been delivered; others on the connection go on")
  func hang() async throws {
    let bench = try Bench(
      emulator: FCMEmulatorConfiguration(faults: [Fault(tokenPrefix: "hang-", action: .hang)]))
    async let hung = bench.client.answer(to: bench.message(to: "hang-1", timeout: .milliseconds(300)))
    let others = await bench.client.answers(to: (0..<50).map { bench.message(to: "device-\($0)") })
    #expect(others.allSatisfy { $0.status == 200 })
    let error = try #require(await hung.failure)
    #expect(error.kind == .timedOut)
    #expect(error.mayHaveBeenDelivered)
    #expect(error.isRetriable)
    #expect(!error.responseStarted)
    bench.end()
  }

  @Test(
    "a condition that ends after libcurl has the request, and before it writes: nothing leaves, the connection goes on",
    arguments: [false, true])
  func withheldAtLast(onOpenConnection: Bool) async throws {
    let bench = try Bench(
      emulator: FCMEmulatorConfiguration(faults: [Fault(tokenPrefix: "hang-", action: .hang)]),
      client: { $0.maxConnectionsPerHost = 1 })
    let hanging = Collector(expecting: 1)
    if onOpenConnection {
      #expect(await bench.client.answer(to: bench.message()).status == 200)
      bench.client.send(bench.message(to: "hang-1")) { hanging.add($0) }
      #expect(try await eventually { bench.emulator.counters.requests == 2 })
    }
    let before = bench.emulator.counters.requests
    let asked = Mutex(0)
    var request = bench.message()
    // The client asks until it has a connection to choose, then once more before it writes.
    request.mayStart = {
      asked.withLock {
        $0 += 1; return $0 < 3
      }
    }
    let error = try #require(await bench.client.answer(to: request).failure)
    #expect(error.kind == .withheld)
    #expect(!error.mayHaveBeenDelivered)
    #expect(asked.withLock { $0 } == 3)
    #expect(await bench.client.answer(to: bench.message()).status == 200)
    #expect(bench.emulator.counters.requests == before + 1)
    #expect(bench.client.statistics.openedConnections == 1)
    #expect(hanging.count == 0)
    bench.client.shutdown(grace: .zero)
    bench.end()
  }

  @Test("A slow answer within the time-out is an answer")
  func slow() async throws {
    let bench = try Bench(
      emulator: FCMEmulatorConfiguration(faults: [Fault(tokenPrefix: "slow-", delay: .milliseconds(300))]))
    let start = ContinuousClock.now
    #expect(await bench.client.answer(to: bench.message(to: "slow-1")).status == 200)
    #expect(ContinuousClock.now - start >= .milliseconds(300))
    bench.end()
  }

  @Test("A refused connection is typed, retriable, and not delivered")
  func refused() async throws {
    let bench = try Bench()
    let gone = try FCMEmulator()
    gone.stop()
    let error = try #require(await bench.client.answer(to: bench.message(base: gone.url)).failure)
    #expect(error.kind == .connectionFailed)
    #expect(error.isRetriable)
    #expect(!error.mayHaveBeenDelivered)
    bench.end()
  }

  @Test("A connection reset under a request is typed and retriable, and may have been delivered")
  func reset() async throws {
    let bench = try Bench(
      emulator: FCMEmulatorConfiguration(faults: [
        Fault(tokenPrefix: "cut-", action: .resetConnection), Fault(tokenPrefix: "stream-", action: .resetStream),
      ]))
    for device in ["cut-1", "stream-1"] {
      let error = try #require(await bench.client.answer(to: bench.message(to: device)).failure)
      #expect(error.kind == .reset)
      #expect([16, 52, 55, 56, 92].contains(error.curlCode))
      #expect(error.isRetriable)
      #expect(error.mayHaveBeenDelivered)
    }
    #expect(await bench.client.answer(to: bench.message()).status == 200)
    bench.end()
  }

  @Test("After a GOAWAY every request ends, with its answer or as retriable, and later ones get a new connection")
  func goAway() async throws {
    let bench = try Bench(
      emulator: FCMEmulatorConfiguration(faults: [Fault(skip: 20, times: 1, action: .goAway)]),
      client: { $0.maxConnectionsPerHost = 1 })
    let answers = await bench.client.answers(to: (0..<100).map { bench.message(to: "device-\($0)") })
    for answer in answers where answer.status != 200 {
      let error = try #require(answer.failure)
      #expect(error.isRetriable)
    }
    #expect(answers.contains { $0.status == 200 })
    #expect(await bench.client.answer(to: bench.message()).status == 200)
    bench.end()
  }

  @Test("A 200 whose body breaks off is delivered as a 200 with an incomplete body")
  func brokenBody() async throws {
    let bench = try Bench(
      emulator: FCMEmulatorConfiguration(faults: [Fault(tokenPrefix: "broken-", action: .brokenBody)]))
    let response = try await bench.client.answer(to: bench.message(to: "broken-1")).get()
    #expect(response.status == 200)
    #expect(response.incompleteBody)
    let error = try #require(response.transferError)
    #expect(error.responseStarted)
    #expect(error.mayHaveBeenDelivered)
    #expect(!error.isRetriable)
    bench.end()
  }

  @Test("An answer over the size cap keeps its status and as much of the body as is allowed")
  func tooLarge() async throws {
    let page = String(repeating: "x", count: 100_000)
    let bench = try Bench(
      emulator: FCMEmulatorConfiguration(faults: [
        Fault(tokenPrefix: "large-", action: .answer(EmulatorAnswer(status: 502, body: page)))
      ]), client: { $0.maxResponseBytes = 1_000 })
    let response = try await bench.client.answer(to: bench.message(to: "large-1")).get()
    #expect(response.status == 502)
    #expect(response.transferError?.kind == .responseTooLarge)
    #expect(response.body.count == 1_000)
    #expect(await bench.client.answer(to: bench.message()).status == 200)
    bench.end()
  }

  @Test("Retry-After is kept, whatever the case it is asked in; other headers are not")
  func headers() async throws {
    let bench = try Bench(
      emulator: FCMEmulatorConfiguration(faults: [
        Fault(tokenPrefix: "busy-", action: .answer(EmulatorAnswer(.unavailable, retryAfter: "7")))
      ]))
    let response = try await bench.client.answer(to: bench.message(to: "busy-1")).get()
    #expect(response.status == 503)
    #expect(response.headers["Retry-After"] == "7")
    #expect(response.headers["content-type"] == nil)
    #expect(!response.incompleteBody)
    // The handle is used again: nothing of the former answer may be left.
    let next = try await bench.client.answer(to: bench.message()).get()
    #expect(next.headers["retry-after"] == nil)
    bench.end()
  }

  @Test("A server whose certificate another CA signed is a TLS error, not retriable, and gets nothing")
  func wrongCA() async throws {
    let other = try FCMEmulator()
    let bench = try Bench(client: { $0.caFile = other.caFile })
    let error = try #require(await bench.client.answer(to: bench.message()).failure)
    #expect(error.kind == .tls)
    #expect(!error.isRetriable)
    #expect(!error.mayHaveBeenDelivered)
    #expect(bench.emulator.counters.requests == 0)
    bench.end()
    other.stop()
  }

  @Test("A certificate for another host is a TLS error")
  func wrongHost() async throws {
    let bench = try Bench(emulator: FCMEmulatorConfiguration(listen: FCMEmulatorAddress(host: "0.0.0.0")))
    var request = bench.message()
    #expect(await bench.client.answer(to: request).status == 200)
    // All of 127/8 is this machine, but the certificate is for 127.0.0.1.
    request.url = request.url.replacingOccurrences(of: "127.0.0.1", with: "127.0.0.2")
    let error = try #require(await bench.client.answer(to: request).failure)
    #expect(error.kind == .tls)
    #expect(!error.isRetriable)
    bench.end()
  }

  @Test(
    "What cannot be sent is refused as an invalid request",
    arguments: [
      HTTPRequest(url: "ftp://127.0.0.1/"), HTTPRequest(url: "not a url"),
      HTTPRequest(url: "https://127.0.0.1/", headers: [("a", "b\r\nc: d")]),
      HTTPRequest(url: "https://127.0.0.1/", headers: [("a b", "c")]),
      HTTPRequest(url: "https://127.0.0.1/", headers: [("", "c")]),
    ])
  func invalid(_ request: HTTPRequest) async throws {
    let client = try HTTPClient(HTTPClientConfiguration())
    let error = try #require(await client.answer(to: request).failure)
    #expect(error.kind == .invalidRequest)
    #expect(!error.isRetriable)
    #expect(!error.mayHaveBeenDelivered)
    client.shutdown(grace: .zero)
  }

  @Test("Requests beyond the queue's limit fail at once as queueFull, the others are sent")
  func queueLimit() async throws {
    let bench = try Bench(
      emulator: FCMEmulatorConfiguration(delay: .milliseconds(50)),
      client: {
        $0.maxConnectionsPerHost = 1
        $0.maxInFlight = 10
        $0.maxQueued = 20
      })
    let answers = await bench.client.answers(to: (0..<100).map { bench.message(to: "device-\($0)") })
    let full = answers.compactMap(\.failure)
    #expect(full.count == 70)
    #expect(full.allSatisfy { $0.kind == .queueFull && $0.isRetriable && !$0.mayHaveBeenDelivered })
    #expect(answers.filter { $0.status == 200 }.count == 30)
    #expect(bench.emulator.counters.maxStreams <= 10)
    bench.end()
  }

  @Test("A request that finds no free stream ends as timed out when its time is over, and was not delivered")
  func timeoutInQueue() async throws {
    let bench = try Bench(
      emulator: FCMEmulatorConfiguration(faults: [Fault(action: .hang)]), client: { $0.maxInFlight = 1 })
    let first = Collector(expecting: 1)
    bench.client.send(bench.message(timeout: .seconds(60))) { first.add($0) }
    #expect(try await eventually { bench.emulator.counters.requests == 1 })
    // The longer time comes first: the order of the queue is not that of the deadlines.
    let late = Collector(expecting: 1)
    bench.client.send(bench.message(timeout: .seconds(60))) { late.add($0) }
    let error = try #require(
      await bench.client.answer(to: bench.message(timeout: .milliseconds(50))).failure)
    #expect(error.kind == .timedOut)
    #expect(!error.mayHaveBeenDelivered)
    #expect(first.count == 0)
    #expect(late.count == 0)
    #expect(bench.emulator.counters.requests == 1)
    bench.client.shutdown(grace: .zero)
    #expect(await first.all().first?.failure?.kind == .cancelled)
    #expect(await late.all().first?.failure?.kind == .shutDown)
    bench.end()
  }

  @Test(
    "Shutdown ends every request exactly once: what hangs is cancelled after the grace, what waits is refused at once")
  func shutdownCancels() async throws {
    let bench = try Bench(
      emulator: FCMEmulatorConfiguration(faults: [Fault(action: .hang)]), client: { $0.maxInFlight = 20 })
    let ends = Mutex([String: [String]]())
    for index in 0..<30 {
      bench.client.send(bench.message(to: "\(index)")) { answer in
        ends.withLock { $0["\(index)", default: []].append(answer.failure?.kind.rawValue ?? "answer") }
      }
    }
    #expect(try await eventually { bench.emulator.counters.requests == 20 })
    bench.client.shutdown(grace: .milliseconds(200))
    let results = ends.withLock { $0 }
    #expect(results.count == 30)
    #expect(results.values.allSatisfy { $0.count == 1 })
    for index in 0..<30 { #expect(results["\(index)"] == [index < 20 ? "cancelled" : "shutDown"]) }
    #expect(bench.client.statistics.failures == 30)
    let late = try #require(await bench.client.answer(to: bench.message()).failure)
    #expect(late.kind == .shutDown)
    bench.end()
  }

  @Test("Shutdown lets requests on the wire finish within the grace")
  func shutdownWaits() async throws {
    let bench = try Bench(emulator: FCMEmulatorConfiguration(delay: .milliseconds(500)))
    let collector = Collector(expecting: 20)
    for index in 0..<20 { bench.client.send(bench.message(to: "\(index)")) { collector.add($0) } }
    #expect(try await eventually { bench.emulator.counters.requests == 20 })
    bench.client.shutdown(grace: .seconds(30))
    // Nothing is awaited: every completion came before `shutdown` returned.
    #expect(collector.count == 20)
    #expect(await collector.all().allSatisfy { $0.status == 200 })
    bench.end()
  }

  @Test("A completion may send the next request, and may shut the client down")
  func fromCompletion() async throws {
    let bench = try Bench()
    let collector = Collector(expecting: 2)
    bench.client.send(bench.message()) { first in
      bench.client.send(bench.message()) { second in
        bench.client.shutdown(grace: .seconds(1))
        collector.add(first)
        collector.add(second)
      }
    }
    #expect(await collector.all().allSatisfy { $0.status == 200 })
    bench.end()
  }

  @Test("A released client ends its requests in flight")
  func dropped() async throws {
    let bench = try Bench(emulator: FCMEmulatorConfiguration(faults: [Fault(action: .hang)]))
    let collector = Collector(expecting: 1)
    do {
      let client = try HTTPClient(HTTPClientConfiguration(caFile: bench.emulator.caFile))
      client.send(bench.message()) { collector.add($0) }
      #expect(try await eventually { bench.emulator.counters.requests == 1 })
    }
    #expect(await collector.all().first?.failure?.kind == .cancelled)
    bench.end()
  }

  @Test("A configuration that cannot work is refused")
  func badConfiguration() {
    #expect(throws: HTTPTransportError.self) {
      _ = try HTTPClient(HTTPClientConfiguration(maxConnectionsPerHost: 0))
    }
    #expect(throws: HTTPTransportError.self) {
      _ = try HTTPClient(HTTPClientConfiguration(maxConcurrentStreams: 100, maxRequestsPerConnection: 100))
    }
  }

  @Test("The version of libcurl is known, and whether it is old")
  func version() {
    let parts = HTTPClient.libcurlVersion.split(separator: ".").compactMap { Int($0) }
    #expect(parts.count == 3)
    #expect(HTTPClient.resetsFinishedStreams == (parts[0] < 8 || parts[0] == 8 && parts[1] < 14))
  }
}
