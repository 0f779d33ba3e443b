import Testing

@testable import StreamRuntime

@Suite("Times of a stream thread")
struct StreamLimitsTests {
  @Test("effects follow the group's actual session time-out")
  func session() {
    var limits = StreamLimits()
    limits.follow(kafkaProperties: ["session.timeout.ms": "6000"])
    #expect(limits.sessionTimeout == 6000)
    var proof = OwnershipProof(sessionTimeout: limits.sessionTimeout)
    proof.proven(at: 0)
    #expect(proof.holds(at: limits.proofInterval * 2), "a proof is renewed well before it ends")
    #expect(!proof.holds(at: 3000))
    #expect(limits.heartbeatInterval * 3 <= limits.sessionTimeout, "two heartbeats may be lost")
    limits.follow(kafkaProperties: ["session.timeout.ms": "1200"])
    #expect(limits.heartbeatInterval == 400)
  }

  @Test("the partitions of a process that is killed are idle for 12 s at most, and of one that leaves for 2 s")
  func bounds() {
    let limits = StreamLimits()
    var proof = OwnershipProof(sessionTimeout: limits.sessionTimeout)
    proof.proven(at: 0)
    #expect(proof.holds(at: limits.proofInterval * 2), "a proof is renewed well before it ends")
    // The group's coordinator notices, the others learn of it, wait for replies, and restore in the second that is left.
    #expect(limits.sessionTimeout + limits.heartbeatInterval + limits.revokeDrain <= 11_000)
    // The transaction of the dead process has timed out by then, so that its offsets are stable (5 s, and 1 s until the broker looks).
    #expect(limits.sessionTimeout > 6000)
    #expect(limits.heartbeatInterval <= 500)
  }

  @Test("without the property, or with an invalid one, the defaults apply")
  func defaults() {
    var limits = StreamLimits()
    limits.follow(kafkaProperties: ["socket.keepalive.enable": "true"])
    limits.follow(kafkaProperties: ["session.timeout.ms": "soon"])
    #expect(limits == StreamLimits())
  }
}
