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
  }

  @Test("without the property, or with an invalid one, the defaults apply")
  func defaults() {
    var limits = StreamLimits()
    limits.follow(kafkaProperties: ["socket.keepalive.enable": "true"])
    limits.follow(kafkaProperties: ["session.timeout.ms": "soon"])
    #expect(limits == StreamLimits())
  }
}
