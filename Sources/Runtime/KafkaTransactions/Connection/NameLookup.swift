import Foundation
import Synchronization

#if os(Linux)
  let streamSocket = Int32(SOCK_STREAM.rawValue)
#else
  let streamSocket = SOCK_STREAM
#endif

/// A socket address for the system's calls.
struct SocketAddress: Sendable {
  let family: Int32
  let bytes: [UInt8]
}

/// The system's name lookup, with a time-out, which the system's function lacks.
enum NameLookup {
  /// The addresses of a host, in the order of preference. Literal addresses need no lookup.
  static func resolve(_ address: BrokerAddress, deadline: Deadline) throws(TransactionalProducerError)
    -> [SocketAddress]
  {
    if case .success(let found) = ask(address, flags: AI_NUMERICHOST) { return found }
    // The call cannot be cancelled: it runs on its own thread, which ends when the call returns.
    let answer = Mutex<Result<[SocketAddress], TransactionalProducerError>?>(nil)
    let box = LookupBox(answer)
    let thread = Thread { box.finish(ask(address, flags: 0)) }
    thread.name = "kafka-name-lookup"
    thread.stackSize = 512 << 10
    thread.start()
    guard let result = box.wait(until: deadline) else {
      throw TransactionalProducerError(.passing, "look up \(address.host)", "the name service does not answer")
    }
    return try result.get()
  }

  private final class LookupBox: Sendable {
    private let answer: Mutex<Result<[SocketAddress], TransactionalProducerError>?>
    private let done = DispatchSemaphore(value: 0)

    init(_ answer: consuming sending Mutex<Result<[SocketAddress], TransactionalProducerError>?>) {
      self.answer = answer
    }

    func finish(_ result: Result<[SocketAddress], TransactionalProducerError>) {
      answer.withLock { $0 = result }
      done.signal()
    }

    func wait(until deadline: Deadline) -> Result<[SocketAddress], TransactionalProducerError>? {
      _ = done.wait(timeout: .now() + .milliseconds(Int(deadline.milliseconds)))
      return answer.withLock { $0 }
    }
  }

  private static func ask(_ address: BrokerAddress, flags: Int32) -> Result<[SocketAddress], TransactionalProducerError>
  {
    var hints = addrinfo()
    hints.ai_flags = flags | AI_NUMERICSERV
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = streamSocket
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(address.host, String(address.port), &hints, &list)
    guard code == 0 else {
      return .failure(
        TransactionalProducerError(.passing, "look up \(address.host)", String(cString: gai_strerror(code))))
    }
    defer { freeaddrinfo(list) }
    var found: [SocketAddress] = []
    var next = list
    while let entry = next?.pointee {
      if let bytes = entry.ai_addr {
        found.append(
          SocketAddress(
            family: entry.ai_family,
            bytes: Array(UnsafeRawBufferPointer(start: bytes, count: Int(entry.ai_addrlen)))))
      }
      next = entry.ai_next
    }
    return .success(found)
  }
}
