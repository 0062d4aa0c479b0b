import Foundation
import TestKit

/// Keys made with the openssl command for these tests; they guard nothing.
enum KeyFixtures {
    /// RSA-2048, traditional.
    static let rsaTraditional = """
        -----BEGIN RSA PRIVATE KEY-----
        MIIEowIBAAKCAQEAtxQoK33bbc5pIrruAn8jS09LQ+M6DfhqWRW8hAeOFgG5/elF
        mFMmmy1Uc+w3yxdyQ/7CRivhMSzo8nJI6i/Sp4eLWyLBPpx0Urt2F/YAbhyRVm2R
        quYnlmt1PwrW9A17vwT3TXZXDSfSpTsSQvi+A9ubljdnj1W0/3gF6bmKA6zI0dxT
        iEWOsUhzc1cHhTms4yw24DB+qidUWUiqWf1f4H7j58rn/QuntaAMCbdc7DjjtJJ8
        8DCO39k2j8L8z1JWpmCTuoW/+utaEgrHEFwX7NMESS6+gf9fB5mz77Fh/v+uTexf
        8ehcM4nwR0nVcqhxjNgYXRJX3DkuxWhoRwqlnQIDAQABAoIBACyw/rpZM5zbR6Z6
        /9l7rEO41Fx65mPdKabcC8QmLPz5yGuvi3XrDHBSkTxoJFmPPG1VThr/oK4Wsrnm
        hJ6odHHBgJcLhaVxX2MH0IT6YDIBBsiUoDvaCb1qN3mffYgfl37yqSUPd6ImP8Fm
        iWdwXcBG1nUFyuG+UBwR8k2TJZoOI/d+AJAiXLSX3gclG/FacyaDNe2W7M9cZX5O
        OETwf5nf/5htKAV+qf3722GB2NoO0a1G2qh1kaSEmlMwPtOC3HhKB6h2bQmiHhmA
        efVM5zoNwWiYJUepQ1VKWtkzK29UmmEY2XSObekt9/cOwOTijeyhPe+j8AW2DKFq
        DBCvM6ECgYEA9kIhhD64KvjqHT2wXu2n8vC8QOIN7SV1lH4b++5FlWl+udYCE12J
        nCrbGdwo4RLBYAAw641f5JFSJeisVLMiYWmg3SEYMXpujjxyw6kJl+AgsMNbXXjH
        rC7yuapC+pD97DTO6SMh7TiPDKzSHSGkG+eNj7EJiDneW+u9cZx94b0CgYEAvlI0
        GBbO1dNMXGDIEqPohx0zQ2JmfU21ghgbFQuimI2sbHQ1DR1mFxnY7ivz57b9BG7j
        l1d1Tj5IKiioVRbDhLXo/qCYa9x1hQtxRhED2eVnkhiTrp2W0CgaGJLa/mXyBGHU
        1dbxHmPMJEMVJV7EaypCT9oHi1kteSQa6YBF4WECgYEAuZPkhjBtwZSLeTW/8AnR
        Azd/5rV0IT6VeS4AEL7jGVHC+nDYZ5eZ2GJDcx2CgPsNVzdNpnWHykvpSEArfjjw
        s9BSNdJ21PKa1f2fzutYG2f/urW96JbYgl1u9ZPlncYeVR8GvpKHQqnYw4iJXwK3
        FYBOIfccY9iYRVVGEpQIGVECgYA+GMYkgfSUca+9iFpfMpmg1Bcwyj9UbPFm9ASK
        FlTD3529eSECGXCA4w8TjsWy+dKOCrw5WfDNSab0EnXx5U5/03ak9bMlpjW15ijc
        SpruElp7oYc19vcJDbyN/gRz8sFHSsBN0Sa02qz1u+l/Wu9NY+lk8md5wOwEVZJu
        U0r5oQKBgGXtqCv1O+JDTRwPuTiUQdPFL/6ggn2sNLGYP4JYjjG9gjrMzCYyHwzV
        5auB5M+kc7aKeZ5lAwxdNEXQzK22NzPSZ5k5pPs/at9zfBIXwh7JA66zTFofrdDl
        vxYx5l6/N7vCqQMK/pC/2EMBQOBiO+cBDZNlw523p4n8IQ6RQQz1
        -----END RSA PRIVATE KEY-----
        """
    private static let rsaDER: [UInt8] = {
        let digits = rsaTraditional.split(separator: "\n").dropFirst().dropLast().joined()
        return Data(base64Encoded: digits).map { [UInt8]($0) } ?? []
    }()
    /// The same key in PKCS#8.
    static let rsa = pem(
        "PRIVATE KEY",
        WycheproofVectors.bytes(hex: "308204bd020100300d06092a864886f70d0101010500048204a7") + rsaDER
    )
    /// The same private numbers with another modulus.
    static let rsaDamaged: String = {
        var der = rsaDER
        der[100] ^= 1
        return pem("RSA PRIVATE KEY", der)
    }()
    static func pem(_ name: String, _ der: [UInt8]) -> String {
        let digits = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(name)-----\n\(digits)\n-----END \(name)-----\n"
    }
    /// P-256, traditional, with its parameters in a block before.
    static let p256Traditional = """
        -----BEGIN EC PARAMETERS-----
        BggqhkjOPQMBBw==
        -----END EC PARAMETERS-----
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIHzYC/gzM2yswsn22FFUHdSFCgmNpGuxgzBeZJkk4U5HoAoGCCqGSM49
        AwEHoUQDQgAEqqTv5lbTjkwmncTAPd/zrWxixE6FZf3L3Sya6asgPiuYXvyEM2Nd
        7ZoiLgfzWT+2uKeZf2gEPk7aDGMn/Ts7tA==
        -----END EC PRIVATE KEY-----
        """
    /// The same key in PKCS#8.
    static let p256 = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgfNgL+DMzbKzCyfbY
        UVQd1IUKCY2ka7GDMF5kmSThTkehRANCAASqpO/mVtOOTCadxMA93/OtbGLEToVl
        /cvdLJrpqyA+K5he/IQzY13tmiIuB/NZP7a4p5l/aAQ+TtoMYyf9Ozu0
        -----END PRIVATE KEY-----
        """
    static let ed25519 = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEINT8HrnhKK50CfKLrOdeqGIbB/EqZ97dziWQZVV/Yq6o
        -----END PRIVATE KEY-----
        """
    /// The P-256 key with another key's public point.
    static let p256Damaged = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgfNgL+DMzbKzCyfbY
        UVQd1IUKCY2ka7GDMF5kmSThTkehRANCAAQM9VDLGOm45ebROJ8S0U/mGePThpZq
        OWPrIYD/N2BAv8k4dI5Suwj3T34o8eVUQ8nAfUs5LlJBEbl3qxSRcckF
        -----END PRIVATE KEY-----
        """
    /// `openssl dgst -sha256 -sign` over `attest-worker` with the RSA key, hex.
    static let rs256 =
        "a9b8fb79c2339e0b080c754303f21adc70d68d7919a887bad1c9b4500752b67f462ddce1e102c453fea91acd478bcc58"
        + "b11f7def1f4e695ca53aad5f536399bbc3c5497bb15ceb103e3215d83f94afd360b293ef3fe0651cb63c97ab71d26fdf"
        + "984a4731bd63630744b9da7dc536eb9cfb3db41fe6d5353b908db1758e00d92f6f8deac097c9cb1e70a9f42255c529a6"
        + "8b70f768f10e3c9cdadb987e30bcac8d0dbd8a0dcbbe76a2410c0a4dd64fb9bdc3b12a278c43e53cfa7ab252e3ea8b54"
        + "0fac503809d57f376445815b29afe2c6e2f1fdfeb699f27f6aa5684aea9f03040806f42e82cbbc3763344e160cc27f97"
        + "dff61f3306d89f25cb3f041253e594ca"
    /// The same with the P-256 key, as r ‖ s.
    static let es256 =
        "f587d9e3a258de317a6ad050ebb1fedb6d738ba17b52a3326c8e80a202eec653f9a90ebc8418d70c688e31ff021c887d"
        + "8345707b3603215d5eb4ad32fea40865"
    /// The RSA key's modulus as `openssl rsa -modulus` prints it.
    static let modulus =
        "b714282b7ddb6dce6922baee027f234b4f4b43e33a0df86a5915bc84078e1601b9fde9459853269b2d5473ec37cb1772"
        + "43fec2462be1312ce8f27248ea2fd2a7878b5b22c13e9c7452bb7617f6006e1c91566d91aae627966b753f0ad6f40d7b"
        + "bf04f74d76570d27d2a53b1242f8be03db9b9637678f55b4ff7805e9b98a03acc8d1dc5388458eb148737357078539ac"
        + "e32c36e0307eaa27545948aa59fd5fe07ee3e7cae7fd0ba7b5a00c09b75cec38e3b4927cf0308edfd9368fc2fccf5256"
        + "a66093ba85bffaeb5a120ac7105c17ecd304492ebe81ff5f0799b3efb161feffae4dec5ff1e85c3389f04749d572a871"
        + "8cd8185d1257dc392ec56868470aa59d"
    /// The P-256 key's public point, X9.63.
    static let point =
        "04aaa4efe656d38e4c269dc4c03ddff3ad6c62c44e8565fdcbdd2c9ae9ab203e2b985efc8433635ded9a222e07f3593f"
        + "b6b8a7997f68043e4eda0c6327fd3b3bb4"
}
