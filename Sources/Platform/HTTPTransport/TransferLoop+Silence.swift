internal import CLibcurl

/// Connections that die silently, because their packets are lost or a proxy swallows them. The system detects the first
/// kind (``SocketOptions``). The second kind looks alive to the system; only the server's silence reveals it.
extension TransferLoop {
  /// Reports connections that the system has given up.
  func reportDied() {
    for set in sets.all {
      for (port, silence) in set.takeDied() {
        counters.silentConnections += 1
        log(
          .notice,
          "the system gave up a connection\(Self.place(port)): for \(silence) ms nothing came from the other side")
      }
    }
  }

  /// Doubts connections that are silent while a request waits, and gives up those whose probe gets no answer.
  func checkSilence(_ now: UInt64) {
    guard now >= silenceCheck, counters.inFlight > 0 else { return }
    silenceCheck = now + silence / 6
    for transfer in transfers.all where transfer.submission != nil && !transfer.isProbe {
      // HTTP/1.1 carries one request per connection: there are no other requests to divert, and no room for a probe.
      if transfer.startedAt + silence <= now {
        doubtConnection(of: transfer, quietFor: silence, now, where: \.speaksHTTP2)
      }
    }
    for set in sets.all {
      for doubt in set.doubts where doubt.since + silence <= now { giveUp(doubt, in: set, now) }
    }
  }

  /// Doubts the connection of a transfer without an answer, if nothing else arrived on it either.
  func doubtConnection(
    of transfer: Transfer, quietFor span: UInt64, _ now: UInt64, where condition: (Connection) -> Bool = { _ in true }
  ) {
    guard let port = transfer.localPort, let set = sets.all.first(where: { $0.id == transfer.connectionSet }),
      let connection = set.connection(at: port), connection.lastHeard + span <= now, condition(connection),
      !set.doubts.contains(where: { $0.socket == connection.socket }), let url = transfer.url
    else { return }
    let origin = Origin.of(url)
    set.doubt(
      Doubt(
        socket: connection.socket, origin: origin, since: now,
        probe: connection.speaksHTTP2 ? probe(origin, in: set, now) : nil))
  }

  private func probe(_ origin: String, in set: ConnectionSet, _ now: UInt64) -> Transfer? {
    do throws(HTTPTransportError) {
      let transfer = try transfers.take(makeTransfer)
      do throws(HTTPTransportError) {
        // The probe ends with its answer, or is given up with its connection.
        try transfer.load(
          Submission(request: HTTPRequest(method: .get, url: origin + "/")) { _ in },
          plain: configuration.plainProtocol, remaining: Int(2 * silence / 1_000_000) + 1)
        transfer.isProbe = true
        transfer.startedAt = now
        guard set.add(transfer) == CURLM_OK else {
          throw HTTPTransportError(kind: .other, message: "libcurl takes no probe")
        }
        return transfer
      } catch {
        _ = transfer.abandon()
        transfers.giveBack(transfer)
        throw error
      }
    } catch {
      log(.debug, "no probe: \(error)")
      return nil
    }
  }

  /// Gives up a connection whose probe got no answer, together with its requests. Whether the server received them is
  /// unknown (P7).
  private func giveUp(_ doubt: Doubt, in set: ConnectionSet, _ now: UInt64) {
    guard let connection = set.connections.first(where: { $0.socket == doubt.socket }),
      let port = SocketOptions.localPort(of: doubt.socket), let probe = doubt.probe, probe.isProbe,
      // A probe that waits for a stream proves nothing.
      probe.connectionSet == set.id, probe.localPort == port, probe.mayHaveSent
    else { return }
    let milliseconds = (now - connection.lastHeard) / 1_000_000
    var lost = 0
    for transfer in transfers.all
    where transfer.submission != nil && transfer.connectionSet == set.id && transfer.localPort == port {
      if !transfer.isProbe { lost += 1 }
      end(
        transfer, in: set,
        HTTPTransportError(
          kind: .reset, message: "its connection gave no byte for \(milliseconds) ms, nor an answer to a probe",
          mayHaveBeenDelivered: transfer.mayHaveSent))
    }
    set.giveUp(doubt)
    sets.retire(set)
    counters.silentConnections += 1
    log(
      .notice,
      "gave up the connection to \(doubt.origin)\(Self.place(port)): no byte for \(milliseconds) ms, nor an answer to a probe; "
        + "\(lost) requests on it failed")
  }

  private static func place(_ port: Int?) -> String { port.map { " from local port \($0)" } ?? "" }
}
