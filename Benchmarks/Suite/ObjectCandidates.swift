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

    /// On as many threads as there are cores.
    func bareOnAllCores() -> Candidate {
        let lanes = BareLanes(fixtures.bareSamples())
        let count = scale * 64
        return Candidate("OpenSSL P-256 verify, bare", lanes: lanes.count) { lanes.run(count) }
    }

    func bare() -> Candidate {
        let (bare, count) = (BareVerify(fixtures.bareSamples()), scale * 64)
        return Candidate("OpenSSL P-256 verify, bare") {
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
        let (fixtures, engine) = (fixtures, OpenSSLEngine())
        let verifier = ObjectVerifier(anchors: fixtures.anchors)
        var expectations = fixtures.expectations
        expectations.receipt = policy
        return repeated(name, scale * 4) { [expectations] range in
            let prepared = range.map { index in
                verifier.prepareAttestation(
                    fixtures.attestations[index],
                    clientDataHash: fixtures.clientDataHash,
                    keyID: fixtures.devices[index].keyID,
                    expectations: expectations,
                    at: fixtures.time
                )
            }
            return Self.concluded(prepared, engine)
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

    /// The leaf's signature alone: the floor of an attestation.
    func p384() -> Candidate {
        let (fixtures, engine) = (fixtures, OpenSSLEngine())
        let verifier = ObjectVerifier(anchors: fixtures.anchors)
        var expectations = fixtures.expectations
        expectations.receipt = .ignore
        let checks = fixtures.attestations.indices.flatMap { index in
            verifier.prepareAttestation(
                fixtures.attestations[index],
                clientDataHash: fixtures.clientDataHash,
                keyID: fixtures.devices[index].keyID,
                expectations: expectations,
                at: fixtures.time
            ).checks
        }
        precondition(checks.count == fixtures.attestations.count, "one signature, the leaf's")
        return repeated("OpenSSL P-384 verify", scale * 4) { range in
            precondition(!engine.verify(Array(checks[range])).contains(false), "valid signatures")
            return range.count
        }
    }

    private func decode() throws -> Candidate {
        let (fixtures, decoder) = (fixtures, try fixtures.decoder())
        return repeated("decode: JSON, base64, CBOR", scale * 512) { range in
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
    private func repeated(_ name: String, _ count: Int, _ group: @escaping (Range<Int>) -> Int) -> Candidate {
        let size = fixtures.devices.count
        return Candidate(name) {
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

/// A bare verifier for each core.
private final class BareLanes: @unchecked Sendable {
    // Each is used by one thread at a time: `concurrentPerform` hands each index out once.
    private let lanes: [BareVerify]

    init(_ samples: [BareVerify.Sample]) {
        lanes = (0..<ProcessInfo.processInfo.activeProcessorCount).map { _ in BareVerify(samples) }
    }

    var count: Int { lanes.count }

    func run(_ count: Int) -> Int {
        DispatchQueue.concurrentPerform(iterations: lanes.count) { lane in
            precondition(lanes[lane].run(count) == count, "valid signatures")
        }
        return count * lanes.count
    }
}
