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
    private static func fixture(_ vectors: [RealVector]) throws -> ReplayFixture {
        let appleAppIDs = Set(vectors.compactMap(\.appID)).sorted()
        return try ReplayFixture(
            apps: appleAppIDs.map { ($0, $0) },
            attestationPEM: Vectors.appleAttestationRoot,
            receiptPEM: Vectors.appleReceiptRoot,
            // Two of Apple's own samples had something else attested than a digest.
            policies: #""environments":["production","development"],"receipt":"report","#
                + #""clientDataHash":{"bytes":"any"}"#
        )
    }

    private static func record(_ vector: RealVector, verb: Verb, hash: [UInt8], offset: Int) throws -> InboundRecord {
        let digest = try #require(vector.keyIDBytes.flatMap { Digest($0) })
        let keyID = KeyID(digest)
        let value = RequestRecords.value(
            verb: verb,
            object: vector.objectBytes,
            keyID: keyID,
            clientDataHash: hash,
            path: "v1/projects/123456789012/apps/" + (try #require(vector.appID))
        )
        return InboundRecord(
            topic: "requests",
            partition: 0,
            offset: Int64(offset),
            timestamp: vector.validAtTime.milliseconds,
            key: keyID.recordKey,
            value: value,
            headers: [RecordHeader("request-id", vector.name)]
        )
    }

    @Test func `attestations and their receipts have their verdicts`() throws {
        let vectors = Vectors.real(.attestation).filter { $0.appID != nil }
        let fixture = try Self.fixture(vectors)
        try fixture.write(
            capture: try vectors.enumerated().map { index, vector in
                let hash = try #require(vector.clientDataHashBytes)
                return try Self.record(vector, verb: .verifyAttestation, hash: hash, offset: index)
            }
        )
        #expect(fixture.replay().code == 0)
        let outcomes = try fixture.outcomes()
        let results = try fixture.captured("out/results.ndjson")
        for (index, vector) in vectors.enumerated() {
            let expected = vector.expected == "valid" ? "accepted" : vector.expected
            #expect(outcomes[Int64(index)] == expected, "\(vector.name)")
            let text = String(decoding: try #require(results[index].value), as: UTF8.self)
            if let reason = vector.receiptExpected {
                #expect(text.contains(#""receipt":{"verdict":"refused","reason":"\#(reason)""#), "\(vector.name)")
            } else {
                #expect(!text.contains(#""receipt":{"verdict":"refused""#), "\(vector.name)")
            }
        }
        #expect(vectors.count == 46)
    }

    @Test func `assertions have their verdicts, with their keys from a file`() throws {
        let vectors = Vectors.real(.assertion).filter { $0.appID != nil }
        let fixture = try Self.fixture(vectors)
        var capture: [InboundRecord] = []
        // One key at a time in the order of its counters: what one capture could hold.
        let ordered = vectors.sorted {
            ($0.keyIDBytes ?? []).lexicographicallyPrecedes($1.keyIDBytes ?? [])
                || ($0.keyIDBytes == $1.keyIDBytes && ($0.counter ?? 0) < ($1.counter ?? 0))
        }
        var keys: [String: String] = [:]
        for (index, vector) in ordered.enumerated() {
            let hash = try vector.clientDataHashBytes ?? SHA256.hash(try #require(vector.clientDataBytes)).bytes
            capture.append(try Self.record(vector, verb: .verifyAssertion, hash: hash, offset: index))
            let id = Data(try #require(vector.keyIDBytes)).base64EncodedString()
            let point = Data(try #require(vector.publicKeyBytes)).base64EncodedString()
            let environment = vector.environment.flatMap { Environment(rawValue: $0) } ?? .development
            keys[id] =
                #"{"keyId":"\#(id)","publicKey":"\#(point)","appleAppId":"\#(try #require(vector.appID))","#
                + #""environment":"\#(environment.rawValue)","counter":0}"#
        }
        try fixture.write(capture: capture)
        try fixture.directory.write("keys.ndjson", keys.values.sorted().joined(separator: "\n"))
        let run = fixture.replay(["--keys", fixture.directory.path + "/keys.ndjson"])
        #expect(run.code == 0, "\(run.error)")
        let outcomes = try fixture.outcomes()
        for (index, vector) in ordered.enumerated() {
            let expected = vector.expected == "valid" ? "accepted" : vector.expected
            #expect(outcomes[Int64(index)] == expected, "\(vector.name)")
        }
        #expect(ordered.count >= 32)
    }
}
