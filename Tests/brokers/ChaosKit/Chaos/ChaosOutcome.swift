internal import BrokerKit
package import Crypto
internal import JSON
package import Streams

/// The outcome of one request: its result, or its dead letter.
package struct ChaosOutcome: Sendable, Equatable {
    /// The request's place.
    package var source: RecordPlace
    /// The outcome's own place in its topic.
    package var written: RecordPlace
    package var isDeadLetter = false
    /// `accepted`, `refused`, `deferred`, or `dead letter`.
    package var verdict: String
    package var reason: String?
    package var keyID: String?
    /// Of an assertion that passed its checks; 0 for attestations.
    package var counter: Int64?
    package var isDuplicate = false
    package var requestID: String?
    /// The request's, milliseconds since 1970.
    package var timestamp: Int64?
    /// The answer of a token check; nil for any other request.
    package var isAlreadyConsumed: Bool?
    /// Over key, value and headers.
    package var digest: Digest = SHA256.hash([])

    /// The fields that must be equal in two runs over the same requests.
    package var judgement: String {
        let use = isAlreadyConsumed.map { $0 ? ", used before" : ", first use" } ?? ""
        return "\(verdict)\(isDuplicate ? " (duplicate)" : "")\(use) \(reason ?? "")"
            + " counter \(counter.map(String.init) ?? "none")"
    }

    /// An accepted request that moved its key's counter.
    package var movedCounter: (keyID: String, counter: Int64)? {
        guard verdict == "accepted", !isDuplicate, let keyID, let counter else { return nil }
        return (keyID, counter)
    }
}

extension ChaosOutcome {
    /// Refusals by a worker's own wall clock, against the broker's time of the request. A replay has no such clock.
    static let clockReasons: Set<String> = ["too-old", "from-future"]
    /// With them the refusals by the broker's time of a request, which a replay knows too.
    static let timeReasons = clockReasons.union(["challenge-expired", "challenge-ahead"])
}

// MARK: - Reading

extension ChaosOutcome {
    package struct Unreadable: Error, CustomStringConvertible {
        package let description: String
    }

    /// Reads a worker's results topic, or a replay's results file.
    package init(result record: InboundRecord) throws {
        let root = try JSONDocument(parsing: record.value ?? []).root
        guard let verdict = root["verdict"]?.string, let offset = root["source"]?["offset"]?.integer,
            let partition = root["source"]?["partition"]?.integer.flatMap({ Int32(exactly: $0) })
        else { throw Unreadable(description: "no result at \(record.partition)/\(record.offset)") }
        self.init(
            source: RecordPlace(partition: partition, offset: offset),
            written: RecordPlace(record),
            verdict: verdict,
            digest: Self.digest(record)
        )
        reason = root["reason"]?.string
        keyID = root["keyId"]?.string
        counter = root["evidence"]?["counter"]?.integer
        isDuplicate = root["duplicate"]?.bool ?? false
        requestID = root["requestId"]?.string
        timestamp = root["source"]?["timestamp"]?.integer
        isAlreadyConsumed = root["response"].map { $0["alreadyConsumed"]?.bool ?? false }
    }

    /// Reads a dead letter by its headers.
    package init(deadLetter record: InboundRecord) throws {
        guard let partition = record.text(of: "dlq.partition").flatMap({ Int32($0) }),
            let reason = record.text(of: "dlq.reason"),
            let offset = record.text(of: "dlq.offset").flatMap({ Int64($0) })
        else { throw Unreadable(description: "no dead letter at \(record.partition)/\(record.offset)") }
        self.init(
            source: RecordPlace(partition: partition, offset: offset),
            written: RecordPlace(record),
            verdict: "dead letter",
            digest: Self.digest(record)
        )
        self.reason = reason
        isDeadLetter = true
    }

    /// Each length precedes its bytes, so that the reading is unambiguous; −1 means null.
    private static func digest(_ record: InboundRecord) -> Digest {
        var bytes: [UInt8] = []
        bytes.reserveCapacity((record.value?.count ?? 0) + 256)
        func add(_ part: [UInt8]?) {
            let count = Int32(clamping: part?.count ?? -1)
            for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: count >> Int32(shift))) }
            bytes += part ?? []
        }
        add(record.key)
        add(record.value)
        for header in record.headers {
            add(header.name)
            add(header.value)
        }
        return SHA256.hash(bytes)
    }
}
