internal import AppAttest
internal import AppCheck
internal import CBOR
internal import Crypto
internal import DeviceLab
internal import Foundation

/// The hot paths on one core, next to OpenSSL's bare verification. Each traps unless every record is accepted: a
/// benchmark that measures refusals is worth nothing.
struct ObjectCandidates {
    private let fixtures: Fixtures
    /// Records of one round, by the cost of a record: some tenths of a second each.
    private let scale: Int

    init(_ fixtures: Fixtures, scale: Int) {
        self.fixtures = fixtures
        self.scale = scale
    }

    func all() throws -> [Candidate] {
        [
            bare(), assertion(), attestation("attestation, receipt ignored", .ignore),
            attestation("attestation, receipt judged", .require), receipt(), p384(), try decode(),
        ]
    }

    /// On `threads` cores at once.
    func bare(threads: Int, baseline: String? = nil) -> Candidate {
        let lanes = BareLanes(fixtures.bareSamples(), threads: threads)
        let (name, count) = (Self.bareName(threads: threads), scale * 64)
        return Candidate(name, lanes: threads, engine: EngineCandidates.openSSL, baseline: baseline) {
            lanes.run(count)
        }
    }

    static func bareName(threads: Int) -> String {
        "OpenSSL P-256 verify, bare, \(threads) thread\(threads == 1 ? "" : "s")"
    }

    func bare() -> Candidate {
        let (bare, count) = (BareVerify(fixtures.bareSamples()), scale * 64)
        return Candidate("OpenSSL P-256 verify, bare", engine: EngineCandidates.openSSL) {
            precondition(bare.run(count) == count, "valid signatures")
            return count
        }
    }

    /// The floor of an attestation with its receipt: the leaf's signature and the receipt's.
    func p384AndP256() -> Candidate {
        let (leaf, bare) = (p384(), BareVerify(fixtures.bareSamples()))
        return Candidate("OpenSSL P-384 and P-256 verify, bare", engine: EngineCandidates.openSSL) {
            let count = leaf.run()
            precondition(bare.run(count) == count, "valid signatures")
            return count
        }
    }

    private func assertion() -> Candidate {
        let (fixtures, engine) = (fixtures, OpenSSLEngine())
        let (verifier, expectations) = (ObjectVerifier(anchors: fixtures.anchors), fixtures.expectations)
        return repeated("assertion", scale * 64) { range in
            let prepared = range.map { index in
                verifier.prepareAssertion(
                    fixtures.assertions[index],
                    clientDataHash: fixtures.clientDataHash,
                    key: fixtures.devices[index].publicKey,
                    expectations: expectations
                )
            }
            return Self.concluded(prepared, engine)
        }
    }

    private func attestation(_ name: String, _ policy: ReceiptPolicy) -> Candidate {
        let (engine, prepare) = (OpenSSLEngine(), prepareAttestation(policy))
        return repeated(name, scale * 4) { Self.concluded($0.map(prepare), engine) }
    }

    private func prepareAttestation(_ policy: ReceiptPolicy) -> (Int) -> Prepared<AttestationEvidence> {
        let (fixtures, verifier) = (fixtures, ObjectVerifier(anchors: fixtures.anchors))
        var expectations = fixtures.expectations
        expectations.receipt = policy
        return { [expectations] index in
            verifier.prepareAttestation(
                fixtures.attestations[index],
                clientDataHash: fixtures.clientDataHash,
                keyID: fixtures.devices[index].keyID,
                expectations: expectations,
                at: fixtures.time
            )
        }
    }

    private func receipt() -> Candidate {
        let (fixtures, engine) = (fixtures, OpenSSLEngine())
        let verifier = ObjectVerifier(anchors: fixtures.anchors)
        return repeated("receipt", scale * 32) { range in
            let prepared = range.map { index in
                verifier.prepareReceipt(
                    fixtures.receipts[index],
                    expectations: fixtures.devices[index]
                        .receiptExpectations(.attest, clientDataHash: fixtures.clientDataHash),
                    at: fixtures.time
                )
            }
            for receipt in prepared {
                guard case .success(let verdict) = receipt.verified(by: engine), verdict.refusal == nil else {
                    preconditionFailure("a receipt is refused")
                }
            }
            return prepared.count
        }
    }

    /// The leaf's signature alone: the floor of an attestation without its receipt.
    func p384() -> Candidate {
        let (engine, prepare) = (OpenSSLEngine(), prepareAttestation(.ignore))
        let checks = fixtures.attestations.indices.flatMap { prepare($0).checks }
        precondition(checks.count == fixtures.attestations.count, "one signature, the leaf's")
        return repeated("OpenSSL P-384 verify, bare", scale * 4, engine: EngineCandidates.openSSL) { range in
            precondition(!engine.verify(Array(checks[range])).contains(false), "valid signatures")
            return range.count
        }
    }

    private func decode() throws -> Candidate {
        let decoder = RequestDecoder(registry: try fixtures.registry(), limits: RequestLimits())
        return repeated("decode: JSON, base64, CBOR", scale * 512) { [fixtures] range in
            for index in range {
                guard case .request(let request) = decoder.decode(fixtures.values[index]),
                    let object = request.assertion,
                    (try? CBORReader.read(object.span, in: 0..<object.count)) != nil
                else { preconditionFailure("a request is refused") }
            }
            return range.count
        }
    }

    /// Goes through the fixtures in groups, as a batch does, until `count` records are done.
    private func repeated(
        _ name: String,
        _ count: Int,
        engine: String? = nil,
        _ group: @escaping (Range<Int>) -> Int
    ) -> Candidate {
        let size = fixtures.devices.count
        return Candidate(name, engine: engine) {
            var done = 0
            while done < count {
                let start = done % size
                done += group(start..<min(size, start + min(64, count - done)))
            }
            return done
        }
    }

    private static func concluded<Evidence>(_ prepared: [Prepared<Evidence>], _ engine: OpenSSLEngine) -> Int {
        var (open, done) = (prepared, 0)
        while !open.isEmpty {
            var answers = engine.verify(open.flatMap(\.checks))[...]
            var rest: [Prepared<Evidence>] = []
            for object in open {
                let own = Array(answers.prefix(object.checks.count))
                answers = answers.dropFirst(object.checks.count)
                switch object.advance(own) {
                case .concluded(.success): done += 1
                case .concluded(.failure): preconditionFailure("an honest object is refused")
                case .open(let next): rest.append(next)
                }
            }
            open = rest
        }
        return done
    }
}

/// A bare verifier for each thread.
private final class BareLanes: @unchecked Sendable {
    // Each is used by one thread at a time: `concurrentPerform` hands each index out once.
    private let lanes: [BareVerify]

    init(_ samples: [BareVerify.Sample], threads: Int) {
        lanes = (0..<threads).map { _ in BareVerify(samples) }
    }

    func run(_ count: Int) -> Int {
        DispatchQueue.concurrentPerform(iterations: lanes.count) { lane in
            precondition(lanes[lane].run(count) == count, "valid signatures")
        }
        return count * lanes.count
    }
}
