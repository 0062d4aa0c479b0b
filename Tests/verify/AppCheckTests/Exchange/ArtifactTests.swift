import AppAttest
import AppCheck
import Crypto
import TestKit
import Testing

@Suite struct ArtifactTests {
    private func sample(_ seed: UInt8 = 1, environment: Environment = .production) throws -> Artifact {
        Artifact(
            publicKey: try Exchange.publicKey(seed),
            app: ExchangeKit.name,
            appleAppID: "ABCDE12345.com.example.app",
            environment: environment,
            registeredAt: Exchange.now
        )
    }

    private func reason(_ ring: SealingKeyRing, _ bytes: [UInt8]) -> Reason? { ring.open(bytes).failure }

    @Test(arguments: Environment.allCases)
    func `a sealed artifact opens again, and the same input seals to the same bytes`(environment: Environment) throws {
        let ring: SealingKeyRing = try ExchangeKit.ring([1])
        let artifact = try sample(environment: environment)
        let bytes = try #require(ring.active).seal(artifact)
        #expect(bytes == ring.active?.seal(artifact))
        #expect(try ring.open(bytes).get() == artifact)
        #expect(bytes.first == 1)
        #expect(Array(bytes[1..<33]) == artifact.publicKey.digest.bytes)
        #expect(Array(bytes[33..<37]) == SealingKeyID(of: "key-1").bytes)
        #expect(Artifact.keyID(of: bytes) == KeyID(of: artifact.publicKey))
        #expect(Artifact.sealingKeyID(of: bytes) == SealingKeyID(of: "key-1"))
        // Nothing of the content is readable.
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(!text.contains(ExchangeKit.appID) && !text.contains("example"))
    }

    @Test func `different content has a different nonce`() throws {
        let ring: SealingKeyRing = try ExchangeKit.ring([1])
        let key = try #require(ring.active)
        var artifacts = [try sample(1), try sample(2), try sample(1, environment: .development)]
        var changed = try sample(1)
        changed.registeredAt = EvaluationTime(milliseconds: -1)
        artifacts.append(changed)
        changed.app += "1"
        artifacts.append(changed)
        changed.appleAppID = ""
        artifacts.append(changed)
        let nonces = Set(artifacts.map { Array(key.seal($0)[37..<49]) })
        #expect(nonces.count == artifacts.count)
        for artifact in artifacts { #expect(try ring.open(key.seal(artifact)).get() == artifact) }
    }

    @Test
    func `a flipped bit of the key's id is sealing-key-unknown; any other, a missing or an extra byte is invalid`()
        throws
    {
        let ring: SealingKeyRing = try ExchangeKit.ring([1, 2])
        let bytes = try #require(ring.active).seal(try sample())
        for bit in 0..<(8 * bytes.count) {
            let isOfID = (33..<37).contains(bit / 8)
            #expect(reason(ring, flipping(bit, of: bytes)) == (isOfID ? .sealingKeyUnknown : .artifactInvalid))
        }
        for count in bytes.indices { #expect(reason(ring, Array(bytes[..<count])) == .artifactInvalid) }
        #expect(reason(ring, bytes + [0]) == .artifactInvalid)
        #expect(reason(ring, bytes) == nil)
    }

    @Test(arguments: [0, 1, 36, 64, 65, 66, 300, 1 << 18, 1 << 18 + 1])
    func `bytes that are not an artifact have no ids and do not open`(count: Int) throws {
        let ring: SealingKeyRing = try ExchangeKit.ring([1])
        let bytes = [UInt8](repeating: 2, count: count)
        #expect(Artifact.keyID(of: bytes) == nil && Artifact.sealingKeyID(of: bytes) == nil)
        #expect(reason(ring, bytes) == .artifactInvalid)
        guard count > 0 else { return }
        // Of an artifact's shape, under a key that is none.
        let isShaped = (66...1 << 18).contains(count)
        #expect(reason(ring, [1] + bytes.dropFirst()) == (isShaped ? .sealingKeyUnknown : .artifactInvalid))
    }

    @Test func `old keys of the ring still open artifacts, foreign keys and other secrets of one id do not`() throws {
        let old: SealingKeyRing = try ExchangeKit.ring([1])
        let bytes = try #require(old.active).seal(try sample())
        let rotated: SealingKeyRing = try ExchangeKit.ring([2, 1])
        #expect(rotated.active?.id == SealingKeyID(of: "key-2"))
        #expect(reason(rotated, bytes) == nil)
        #expect(reason(try ExchangeKit.ring([2]), bytes) == .sealingKeyUnknown)
        #expect(reason(SealingKeyRing(), bytes) == .sealingKeyUnknown)
        let impostor = try SealingKeyRing([NamedSecret(id: "key-1", secret: Secret(ExchangeKit.secretBytes(2)))])
        #expect(reason(impostor, bytes) == .artifactInvalid)
    }

    /// Seals by hand, with the same sub-key as the worker.
    private func forged(_ plaintext: [UInt8], keyID: [UInt8]) -> [UInt8] {
        let subkey = HKDF.derive(
            Secret(ExchangeKit.secretBytes(1)),
            info: Array("attest-worker artifact cipher v1".utf8)
        )
        let clear = [1] + keyID + SealingKeyID(of: "key-1").bytes + [UInt8](repeating: 7, count: 12)
        let nonce = Array(clear.suffix(12))
        return clear + AESGCMKey(subkey).seal(plaintext.span, nonce: nonce.span, authenticating: clear.span)
    }

    @Test func `a genuine seal over another key's ID or malformed content is artifact-invalid`() throws {
        let ring: SealingKeyRing = try ExchangeKit.ring([1])
        let point = try Exchange.publicKey(1)
        func content(environment: UInt8 = 1, app: [UInt8] = Array("a".utf8), rest: [UInt8] = [0, 1, 98]) -> [UInt8] {
            let time: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 9]
            return point.x963.dropFirst() + [environment] + time + [0, UInt8(app.count)] + app + rest
        }
        let keyID = point.digest.bytes
        #expect(reason(ring, forged(content(), keyID: keyID)) == nil)
        let other = try Exchange.publicKey(2).digest.bytes
        #expect(reason(ring, forged(content(), keyID: other)) == .artifactInvalid)
        let misshapen = [
            content(environment: 2), content(app: [0xFF]), content(rest: [0, 2, 98]), content(rest: [0, 1, 98, 0]),
            content(rest: []), content(rest: [0]), [], Array(content().prefix(72)),
        ]
        for plaintext in misshapen { #expect(reason(ring, forged(plaintext, keyID: keyID)) == .artifactInvalid) }
    }
}

@Suite struct SecretRingTests {
    private func ring(_ secrets: [(String, Int)]) throws -> SealingKeyRing {
        try SealingKeyRing(secrets.map { NamedSecret(id: $0.0, secret: Secret([UInt8](repeating: 1, count: $0.1))) })
    }

    @Test func `the first key listed is the active one, and each is found by its id`() throws {
        let ring = try ring([("new", 32), ("old", 32)])
        #expect(ring.active?.id == SealingKeyID(of: "new"))
        #expect(ring.keys.map(\.id) == [SealingKeyID(of: "new"), SealingKeyID(of: "old")])
        #expect(ring[SealingKeyID(of: "old")]?.id == SealingKeyID(of: "old"))
        #expect(ring[SealingKeyID(of: "none")] == nil)
        #expect(SealingKeyRing().active == nil)
    }

    @Test(arguments: [
        ([("a", 32), ("a", 32)], KeyRingFault.standsTwice(id: "a")), ([("a", 31)], .wrongSize(id: "a", bytes: 31)),
        ([("a", 32), ("b", 33)], .wrongSize(id: "b", bytes: 33)), ([("", 32)], .unnamed),
    ])
    func `keys that do not form a ring are refused by name`(secrets: [(String, Int)], fault: KeyRingFault) {
        #expect(throws: fault) { try ring(secrets) }
    }

    @Test func `two ids with the same hash prefix are refused, since artifacts could not distinguish them`() throws {
        // Among 400,000 ids two share 32 bits with near certainty.
        var seen: [SealingKeyID: String] = [:]
        for index in 0..<400_000 {
            let id = "k\(index)"
            guard let other = seen.updateValue(id, forKey: SealingKeyID(of: id)) else { continue }
            #expect(throws: KeyRingFault.alike(id: id, other: other)) { try ring([(other, 32), (id, 32)]) }
            return
        }
        Issue.record("two ids are alike")
    }
}
