import Testing

@testable import KafkaTransactions

@Suite("Logins")
struct SCRAMTests {
  private func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

  @Test("SCRAM-SHA-256 as in RFC 7677")
  func sha256() throws {
    var login = SCRAMLogin(.sha256, user: "user", password: "pencil", nonce: Array("rOprNGfwEbeRWgbNEkqO".utf8))
    #expect(text(login.first) == "n,,n=user,r=rOprNGfwEbeRWgbNEkqO")
    let answer = try login.answer(
      to: Array("r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".utf8))
    #expect(
      text(answer)
        == "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
    let done = try login.answer(to: Array("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=".utf8))
    #expect(done == nil)
  }

  @Test("a broker that does not know the password is found out")
  func impostor() throws {
    var login = SCRAMLogin(.sha256, user: "user", password: "pencil", nonce: Array("rOprNGfwEbeRWgbNEkqO".utf8))
    _ = try login.answer(
      to: Array("r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".utf8))
    #expect(throws: SASLError.notTheServer) {
      try login.answer(to: Array("v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=".utf8))
    }
  }

  @Test(
    "a broker's message that is none is refused, one that would take for ever too",
    arguments: [
      "", "r=other,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "r=abc,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "r=abcd,s=,i=4096",
      "r=abcd,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=1", "r=abcd,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=999999999",
      "m=x,r=abcd,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "e=unknown-user", "r=abcd,s=***,i=4096",
    ])
  func malformed(_ message: String) {
    var login = SCRAMLogin(.sha512, user: "user", password: "pencil", nonce: Array("abc".utf8))
    #expect(throws: SASLError.self) { try login.answer(to: Array(message.utf8)) }
  }

  @Test("a user name may contain the field separator")
  func escaping() {
    let login = SCRAMLogin(.sha256, user: "a=b,c", password: "p", nonce: Array("n".utf8))
    #expect(text(login.first) == "n,,n=a=3Db=2Cc,r=n")
  }

  @Test("PLAIN sends user and password, and waits for nothing")
  func plain() throws {
    var login = PlainLogin(user: "u", password: "p")
    #expect(login.first == [0, 0x75, 0, 0x70])
    let done = try login.answer(to: [])
    #expect(done == nil)
  }
}
