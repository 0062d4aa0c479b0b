import AppAttest
import AppCheck
import Crypto
import Foundation
import Streams
import TestKit
import Testing

/// Apple's own objects through the command, for every vector whose App ID is known.
@Suite("replay of Apple's objects", .enabled(if: Vectors.arePresent, Vectors.absence))
struct ReplayRealTests {
    /// Replays the vectors' objects, which must have their verdicts.
    private static func replayed(_ vectors: [RealVector], _ verb: Verb, keys: [String] = []) throws -> ReplayFixture {
        let fixture = try ReplayFixture(
            apps: Set(vectors.compactMap(\.appID)).sorted().map { ($0, $0) },
            attestationPEM: Vectors.appleAttestationRoot,
            receiptPEM: Vectors.appleReceiptRoot,
            // Two of Apple's own samples had something else attested than a digest.
            policies: #""environments":["production","development"],"receipt":"report","#
                + #""clientDataHash":{"bytes":"any"}"#
        )
        try fixture.write(capture: vectors.enumerated().map { try record($1, verb, Int64($0)) })
        try fixture.write(keys.joined(separator: "\n"), to: "keys.ndjson")
        try fixture.replayed(keys.isEmpty ? [] : ["--keys", fixture.file("keys.ndjson")])
        let outcomes = try fixture.outcomes()
        for (index, vector) in vectors.enumerated() {
            let expected = vector.expected == "valid" ? "accepted" : vector.expected
            #expect(outcomes[Int64(index)] == expected, "\(vector.name)")
        }
        return fixture
    }

    private static func record(_ vector: RealVector, _ verb: Verb, _ offset: Int64) throws -> InboundRecord {
        let keyID = KeyID(try #require(vector.keyIDBytes.flatMap { Digest($0) }))
        let hash = try vector.clientDataHashBytes ?? SHA256.hash(try #require(vector.clientDataBytes)).bytes
        let value = RequestRecords.value(
            verb: verb,
            object: vector.objectBytes,
            keyID: keyID,
            clientDataHash: hash,
            path: "v1/projects/123456789012/apps/" + (try #require(vector.appID))
        )
        let time = vector.validAtTime.milliseconds - offset
        return RequestRecords.record(value, key: keyID.recordKey, offset: offset, id: vector.name, timestamp: time)
    }

    @Test func `attestations and their receipts have their verdicts`() throws {
        let vectors = Vectors.real(.attestation).filter { $0.appID != nil }
        let fixture = try Self.replayed(vectors, .verifyAttestation)
        let results = try fixture.captured("out/results.ndjson")
        for (result, vector) in zip(results, vectors) {
            let text = String(decoding: try #require(result.value), as: UTF8.self)
            if let reason = vector.receiptExpected {
                #expect(text.contains(#""receipt":{"verdict":"refused","reason":"\#(reason)""#), "\(vector.name)")
            } else {
                #expect(!text.contains(#""receipt":{"verdict":"refused""#), "\(vector.name)")
            }
        }
        #expect(vectors.count == 46 && results.count == 46)
    }

    @Test func `assertions have their verdicts, with their keys from a file`() throws {
        // One key at a time in the order of its counters: what one capture could hold.
        let vectors = Vectors.real(.assertion).filter { $0.appID != nil }.sorted {
            ($0.keyIDBytes ?? []).lexicographicallyPrecedes($1.keyIDBytes ?? [])
                || ($0.keyIDBytes == $1.keyIDBytes && ($0.counter ?? 0) < ($1.counter ?? 0))
        }
        var keys: [String: String] = [:]
        for vector in vectors {
            let id = Data(try #require(vector.keyIDBytes)).base64EncodedString()
            let point = Data(try #require(vector.publicKeyBytes)).base64EncodedString()
            let environment = vector.environment.flatMap { Environment(rawValue: $0) } ?? .development
            keys[id] =
                #"{"keyId":"\#(id)","publicKey":"\#(point)","appleAppId":"\#(try #require(vector.appID))","#
                + #""environment":"\#(environment.rawValue)","counter":0}"#
        }
        _ = try Self.replayed(vectors, .verifyAssertion, keys: keys.values.sorted())
        #expect(vectors.count >= 32)
    }
}
