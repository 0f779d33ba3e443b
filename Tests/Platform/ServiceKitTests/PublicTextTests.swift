import Testing

@testable import ServiceKit

@Suite("Texts without secrets")
struct PublicTextTests {
  @Test(
    "of a URL remain scheme, host and port; where they are not certain, nothing",
    arguments: [
      ("http://localhost:4318", "http://localhost:4318"),
      ("https://user:pass@host.example:4318/path?token=x#y", "https://host.example:4318"),
      ("https://[::1]:8080/x", "https://[::1]:8080"),
      ("https://user:pa/ss@host.example", "https://…"),
      ("https://user:12/ss@host.example/", "https://…"),
      ("https://host.example/path?mail=a@b", "https://…"),
      ("https://u:p@host/a@b", "https://…"),
      ("https://user:pass", "https://…"),
      ("https://", "https://…"),
      ("file:///run/secrets/token", "file://…"),
      (
        "SASL_SSL://kafka-1.example:9092,SASL_SSL://kafka-2.example:9092",
        "SASL_SSL://kafka-1.example:9092,SASL_SSL://kafka-2.example:9092"
      ),
      ("SASL_SSL://u:p@kafka:9092,SASL_SSL://v:q@other:9092", "SASL_SSL://…"),
      ("user:pass@host", "…"),
      ("kafka:9092,other:9092", "kafka:9092,other:9092"),
      ("/var/lib/nudge", "/var/lib/nudge"),
    ])
  func values(_ text: String, _ shown: String) { #expect(PublicText.value(text) == shown) }

  @Test("lines keep their words; URLs in them and what follows Bearer or Basic do not stay whole")
  func lines() {
    #expect(
      PublicText.line(#"{"url":"https:\/\/u:p@h.example\/x","more":"http://a/b?c <ftp://d@e/f>"}"#)
        == #"{"url":"https://h.example","more":"http://a <ftp://e>"}"#)
    #expect(PublicText.line("authorization: Bearer abcdefgh1 end") == "authorization: Bearer … end")
    #expect(PublicText.line("a basic test of mine") == "a basic test of mine")
    #expect(PublicText.line("nothing here") == "nothing here")
  }
}
