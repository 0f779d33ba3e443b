/// Keys and tokens made with the `openssl` command for these tests alone: openssl genpkey, and openssl dgst -sha256 -sign over header and claims.
public enum TokenVectors {
  /// RSA, 2048 bits.
  public static let rsaPrivate = """
    -----BEGIN PRIVATE KEY-----
    MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQDpBvMTBsizJBGp
    KxgvbfLlpnBoQq9LqOKKSzm5yoRV+cIg2ggpzuDjNARZzspEHKuYeaXbf8a9m4wg
    96jk+DdYbU8Gg/gZyfRj4nTuEbfKhti3C9KzTKku3/qsbi6UUqga0rJvIMYDG4Zl
    0lJpODptUak/2++K0vZJ4QnP6/wkYbs1APIn6Apj9Hgu57MMEfitHJnXHcixLKgv
    QgajO6RZQds1kKLULhpQRdmMjFKKzIWS8IJ2fLMh+RmcFhwIGd2AibhhBYMPcwMr
    DQvb6gAId8ldr3Fw6aiuyDOlECqCTlIpdgrxGB+CKSzWynev4noNXfqaHjALKsEu
    3LbMJutLAgMBAAECggEAFkjMwEImH+kjatPNGJgOO8NhCe9t0Rf0/ITfuXJyMycG
    PafShdQ1ZTTpWs2v24SixxsqO8v3E9UHH3RfqYnjmduJZgk2L2bE4TQPIS2YYtAZ
    2gnRtZJvgwtc7wlx/36W4EqYhF0USPuXkvwvVywCSZSe6vvCGoejKulQGJsSMUfp
    AHzZz4PeAVvvl48YeuksJTpVvBISXJzJo+r3m1EdYa/odT7wYRyvs3Oq5zP+vIFN
    yIg0cG68LFXJIEdojCsjkXXkqxyvDRH/c2tT6xp4a2FWj/Ch9u6t5IBMOH7bs+ie
    wwQt439nnXq1YLHwAAdB/qIYBAy1dqwKUs7wkn9lTQKBgQD8R9vL13Zr3vE6A0MY
    zFwKoXcrg8ar1uiwekLUFRPipbKHBstNszve3v3lOim2l0I2y3nRl8EwwdaIbCmC
    K+TbWe3kSe3l8EPUa4C5heq7tVfBH6pmJiipfcqGbzCvDcSdVjD00ulu2tISCGuO
    +cFL29FllApTamlfybGSZTDRpQKBgQDsdmzo3ZEaa2VXxPud/oh8QAAjHz1guG4S
    CnLG52JyEfpdy73cUEoKUo+2R9Wh7mqaUexIQFhuQ4LcfW8X+NImLpJD2OJiL4Zx
    bAd+eEKPsHdYSWyj0eokFL7jz5GQDTXn7nS2tnCJ86yN3iMUqgUswpv93i1i9DF6
    FMI9aUdWLwKBgQCKiZd8z/xa7lm/xszQ0GB3AgYkIkA2W1T6nJkYR97cpqtsFOIN
    8DAfiosYlyETAOs+lex2mYRglwGNdwAwWJRblH3b0HFQxOkqvEI7HvwxSjs/dXko
    kSnhMY/G1UaByui+kfdeangABTA48ODH6gUo+DR8OJiXCCeHj4Xw45q0dQKBgQDk
    Qu2fXUNVXZbWwzChs7PNPXrkbKOzWlXm1G830uUVeIVXRfZhVqAiltBkBbQUPTJr
    BeoxVOwIhOMuNWeonGlAsnQ/Sn4+ieIeW0pgq3aVfqO2diqJeXmsmtoqz5SUmiwP
    WAES38qDYNaRnH4A1J9qNfKffnoRq+iXELLw1VAnwQKBgAUZ/zKMf0Ah7zXscDS7
    1Zt1F92hZ3TplyjhgCXsVdDQOM686ZJTm8jfkfEZ2F7nU5qwHDfPN5k2vexXBADk
    gzK/Bvxv04LVgt6vAG1YJzOFwoPVMLcrCdC5TtlOnkKDFoePXZQPCW30rjDqK5DR
    7r//rR5Zo8bwXyflcstBoUYg
    -----END PRIVATE KEY-----
    """

  /// Its public key.
  public static let rsaPublic = """
    -----BEGIN PUBLIC KEY-----
    MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA6QbzEwbIsyQRqSsYL23y
    5aZwaEKvS6jiiks5ucqEVfnCINoIKc7g4zQEWc7KRByrmHml23/GvZuMIPeo5Pg3
    WG1PBoP4Gcn0Y+J07hG3yobYtwvSs0ypLt/6rG4ulFKoGtKybyDGAxuGZdJSaTg6
    bVGpP9vvitL2SeEJz+v8JGG7NQDyJ+gKY/R4LuezDBH4rRyZ1x3IsSyoL0IGozuk
    WUHbNZCi1C4aUEXZjIxSisyFkvCCdnyzIfkZnBYcCBndgIm4YQWDD3MDKw0L2+oA
    CHfJXa9xcOmorsgzpRAqgk5SKXYK8Rgfgiks1sp3r+J6DV36mh4wCyrBLty2zCbr
    SwIDAQAB
    -----END PUBLIC KEY-----
    """

  /// EC on P-256.
  public static let ecPrivate = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgkZ9tQtXBR9u83Jjf
    uaNFyUxXq7S1OEdRMqj2x4LufR6hRANCAAT3Hb809GwJ6xz4TXNOj7yoLUEF8nz0
    7eAFmV8YchnCQuqgct7ZXgBeql3C0QbJVp6ebhpdx3JmlJ0WojkcB0HQ
    -----END PRIVATE KEY-----
    """

  /// Its public key.
  public static let ecPublic = """
    -----BEGIN PUBLIC KEY-----
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE9x2/NPRsCesc+E1zTo+8qC1BBfJ8
    9O3gBZlfGHIZwkLqoHLe2V4AXqpdwtEGyVaenm4aXcdyZpSdFqI5HAdB0A==
    -----END PUBLIC KEY-----
    """

  /// The same, encrypted with a passphrase.
  public static let ecEncrypted = """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgo9HmXM+ys/gICCAAw
    DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEJ23LbZXaOymd+Gsz97u0D8EgZCh
    64vx+F3Tk6d2QE1r3ItwK9ik9ZbWUmtZB2zNlRCXQma1MX9HGNGOYbFdNpfdKTec
    5KRIK5E/sEBJsuU6BfU6rvoWgt1sh8t3N+8/mR7OjiGuURfIkbMFIYqmQliHfKVs
    RdXQtEsGO3lgUC0G2r+gmvro/D8bGrj2Q/KS5ITSGjqERQCobHE6paWuG/VWbhs=
    -----END ENCRYPTED PRIVATE KEY-----
    """

  /// RSA, 1024 bits: too short.
  public static let weakPrivate = """
    -----BEGIN PRIVATE KEY-----
    MIICeAIBADANBgkqhkiG9w0BAQEFAASCAmIwggJeAgEAAoGBAJspZnTZLRIw7Oll
    Pwv4WFEzhoSG6/2cJ0W6x1LQfH177xkQc6jS04SCXmbfo7l9cX9dnu1cmMvnT/au
    8h2dQHvhSI0KuLK9JJncm9+gLReoDdX2ysrvNp1yMGAlYelLKMMc7Y1EXsrsOfPE
    HHeHoxhF9MW6t6U6Y0590QLBfWejAgMBAAECgYBson7entOkoeatvrp2qglDyRyM
    m16NMRB6DLzTqa8PuH7+AHvKHtoDM7fetQQPsdmOQEEulR9R3AEriO9xdpEXU9wy
    F4ewLU2xzaZ3v8aZLRmg2Biq20QdUmuI7kuAlaOLUUpUKo4hRzVFl9i3aqaPoqCL
    p31cNS2E3XM+RM5d8QJBAMitbSa1rts3842e2xyjF022C48/wxZJJjB86/APvVLK
    RMvUDV4BmSvMcBqtERXKKI/ZOWM2ZLs6JSRtoeNXbjkCQQDF78FUt7y0HVai2lRp
    ZKYttILXkHWeKZP8gkyuTBR5vPLth7xcpt+suBeU5BTUpLVNUZeORRfu5XD9zM3K
    HwS7AkEAoAtIEOY29Nhzok+9+eHMFQsJvw4gHWbrUSJf3I4A9MUiBtkwa/ekW/zo
    ry21gYY/wTGCBjD8NyGRO7M/uBsjaQJBAKR12if+5i6tdc+oIpzTQPQW2OQtJlz8
    5PXYecgUdKrV4O6Val99U7nZ19YhUGGCXRXaJlfSdtlLEIAAjDhVX4MCQQCZo4nQ
    XC6DUFG5w2IVzZG6WyHrdRbzbWkbdum08HqBu365G1qrzIhIuk0X2QhVfXvDP/lq
    nw2C9gAngt1Wo0iG
    -----END PRIVATE KEY-----
    """

  /// Its public key.
  public static let weakPublic = """
    -----BEGIN PUBLIC KEY-----
    MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCbKWZ02S0SMOzpZT8L+FhRM4aE
    huv9nCdFusdS0Hx9e+8ZEHOo0tOEgl5m36O5fXF/XZ7tXJjL50/2rvIdnUB74UiN
    CriyvSSZ3JvfoC0XqA3V9srK7zadcjBgJWHpSyjDHO2NRF7K7DnzxBx3h6MYRfTF
    urelOmNOfdECwX1nowIDAQAB
    -----END PUBLIC KEY-----
    """

  /// EC on P-384: not for ES256.
  public static let p384Private = """
    -----BEGIN PRIVATE KEY-----
    MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDBtEZ3Fe1JfPvF13I/S
    biY0hlBEb0FIeu/BDve23RDYJH0mSB2SfpAK86DKQeS6kwuhZANiAATpqmVVIHO7
    xgcFFyA2nRZShsyUtzSVyphEwjfqV152jte7/1MV7ODuA7lMM1ubDZu7T2ec8I6X
    OA2IVwwt44MySuBEWa6ndpEd7+RyDd73I6Lj5ueyvzvbQQ8lzECLqlA=
    -----END PRIVATE KEY-----
    """

  /// Both public keys, with one for encryption and one of another type, as a JWK Set.
  public static let keySet = """
    {"keys": [{"kty": "RSA", "kid": "rsa-1", "use": "sig", "alg": "RS256", "n": "6QbzEwbIsyQRqSsYL23\
    y5aZwaEKvS6jiiks5ucqEVfnCINoIKc7g4zQEWc7KRByrmHml23_GvZuMIPeo5Pg3WG1PBoP4Gcn0Y-J07hG3yobYtwvSs0y\
    pLt_6rG4ulFKoGtKybyDGAxuGZdJSaTg6bVGpP9vvitL2SeEJz-v8JGG7NQDyJ-gKY_R4LuezDBH4rRyZ1x3IsSyoL0IGozu\
    kWUHbNZCi1C4aUEXZjIxSisyFkvCCdnyzIfkZnBYcCBndgIm4YQWDD3MDKw0L2-oACHfJXa9xcOmorsgzpRAqgk5SKXYK8Rg\
    fgiks1sp3r-J6DV36mh4wCyrBLty2zCbrSw", "e": "AQAB"}, {"kty": "EC", "kid": "ec-1", "use": "sig", "\
    crv": "P-256", "x": "9x2_NPRsCesc-E1zTo-8qC1BBfJ89O3gBZlfGHIZwkI", "y": "6qBy3tleAF6qXcLRBslWnp5\
    uGl3HcmaUnRaiORwHQdA"}, {"kty": "oct", "kid": "shared", "k": "AAAA"}, {"kty": "RSA", "kid": "enc\
    ", "use": "enc", "n": "6QbzEwbIsyQRqSsYL23y5aZwaEKvS6jiiks5ucqEVfnCINoIKc7g4zQEWc7KRByrmHml23_Gv\
    ZuMIPeo5Pg3WG1PBoP4Gcn0Y-J07hG3yobYtwvSs0ypLt_6rG4ulFKoGtKybyDGAxuGZdJSaTg6bVGpP9vvitL2SeEJz-v8J\
    GG7NQDyJ-gKY_R4LuezDBH4rRyZ1x3IsSyoL0IGozukWUHbNZCi1C4aUEXZjIxSisyFkvCCdnyzIfkZnBYcCBndgIm4YQWDD\
    3MDKw0L2-oACHfJXa9xcOmorsgzpRAqgk5SKXYK8Rgfgiks1sp3r-J6DV36mh4wCyrBLty2zCbrSw", "e": "AQAB"}]}
    """

  /// iss https://accounts.example, sub u-7, aud nudge and other, exp 2000000000, iat 1900000000.
  public static let rs256 = """
    eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6InJzYS0xIn0.eyJpc3MiOiJodHRwczovL2FjY291bnRzLmV4YW1w\
    bGUiLCJzdWIiOiJ1LTciLCJhdWQiOlsibnVkZ2UiLCJvdGhlciJdLCJleHAiOjIwMDAwMDAwMDAsImlhdCI6MTkwMDAwMDAw\
    MH0.4NiLFrlT4x1VsrLYcu74WpkYDOZ1SGoSGKsAaZ2qnUiwh0BeiRwRJJGX5PCe5o0OrCBSIAZit2_yIGi0yrwTyI6Z013V\
    7LmIt9dpb3mcS3Mm_9B2Alfn3mX6AHreIfZDmTWRbuRvYd-WJrf8GzIzrXDGrzJxHi_edoJsmN4aExF70QSGerwfQXv1wy0R\
    FR5JbVMm7LhVVgluP6vgI-Z0HCr_vtKt4sJ3h14asJnV8awThm7y7uL94r15Z4k5BdPpiwzqFY7NcHVXdvNjIDiRhc5hfVm6\
    EebBGMQSf5VbTYGqOAEPrr4W0pl_dxXaewtEM5BhqZ0BT9g5XV5S5JlfaQ
    """

  /// The same claims, signed with the EC key.
  public static let es256 = """
    eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImVjLTEifQ.eyJpc3MiOiJodHRwczovL2FjY291bnRzLmV4YW1wb\
    GUiLCJzdWIiOiJ1LTciLCJhdWQiOlsibnVkZ2UiLCJvdGhlciJdLCJleHAiOjIwMDAwMDAwMDAsImlhdCI6MTkwMDAwMDAwM\
    H0.bkzENu6vL-IOSI5TvYQbvzQ9IzCsOYlql9fhso5MU3LgWlFUdrbQQ-Lf1s6mPBPZsEYzsH2fvnjthlN5I444RA
    """
}
