internal import AppAttest
internal import Crypto
internal import DeviceLab

/// Objects that are damaged inside and signed again, as if Apple or the device had written them so, and objects whose
/// signed bytes are split elsewhere. None may say something else than the object that it was made from.
extension DeviceInputs {
    /// An accepted attestation names the same key, app and environment, whatever was damaged.
    func resignedAttestation(_ random: inout SeededRandom, _ tally: inout Tally, _ way: Judge.Way) {
        let circumstances = Circumstances(device, &random)
        let maker = maker(way)
        let (alteration, family) = Alteration.random(&random)
        let object = maker.attest(
            clientDataHash: circumstances.clientDataHash,
            at: circumstances.issued,
            altered: alteration
        )
        let result = judge.attestation(object, of: device.keyID, circumstances, way)
        guard case .success(let evidence) = result else { return tally.count(code(result)) }
        tally.count("accepted")
        tally[.resignedAccepted] += 1
        let right = maker.attest(clientDataHash: circumstances.clientDataHash, at: circumstances.issued)
        guard case .success(let original) = judge.attestation(right, of: device.keyID, circumstances, way) else {
            return tally.mistake("\(device.shape.rawValue), \(family): damage makes acceptable what was refused")
        }
        if evidence.withoutFreeParts(of: alteration) != original.withoutFreeParts(of: alteration) {
            tally.mistake("\(device.shape.rawValue), \(family): another evidence: \(evidence)")
        }
    }

    /// An accepted assertion has the same counter and app, whatever its extension map says.
    func resignedAssertion(_ random: inout SeededRandom, _ tally: inout Tally, _ way: Judge.Way) {
        let circumstances = Circumstances(device, &random)
        let counter = UInt32(1 + random.below(1000))
        let seed = random.next()
        let object = maker(way).assertion(
            clientDataHash: circumstances.clientDataHash,
            counter: counter,
            altered: .extensionMap { bytes in
                var random = SeededRandom(seed: seed)
                return (CBORTree(bytes)?.damaged(&random) ?? CBORTree.map([]).damaged(&random)).bytes
            }
        )
        judged(judge.assertion(object, by: device.publicKey, circumstances, way), counter, &tally)
    }

    /// The signature covers authData ‖ clientDataHash: bytes move over the boundary between them, in both directions.
    func movedBoundary(_ random: inout SeededRandom, _ tally: inout Tally, _ way: Judge.Way) {
        var circumstances = Circumstances(device, &random)
        let counter = UInt32(1 + random.below(1000))
        let object = maker(way).assertion(
            clientDataHash: circumstances.clientDataHash,
            counter: counter
        )
        guard case .map(var pairs)? = CBORTree(object),
            let place = pairs.firstIndex(where: { $0.0.bytes == CBORTree.text(Array("authenticatorData".utf8)).bytes }),
            case .item(_, _, let authData) = pairs[place].1
        else { return tally.mistake("\(device.shape.rawValue): no authenticator data") }
        let signed = authData + circumstances.clientDataHash
        // Not to where it was.
        let move = 1 + random.below(signed.count - 1)
        let split = move == authData.count ? move - 1 : move
        pairs[place].1 = .string(Array(signed[..<split]))
        circumstances.clientDataHash = Array(signed[split...])
        judged(judge.assertion(CBORTree.map(pairs).bytes, by: device.publicKey, circumstances, way), counter, &tally)
    }

    private func judged(_ result: Result<AssertionEvidence, Refusal>, _ counter: UInt32, _ tally: inout Tally) {
        guard case .success(let evidence) = result else { return tally.count(code(result)) }
        tally.count("accepted")
        tally[.resignedAccepted] += 1
        if evidence.counter != counter || evidence.appID.text != device.appID {
            tally.mistake("\(device.shape.rawValue): another evidence: \(evidence)")
        }
    }
}

extension AttestationEvidence {
    /// Without what the altered part alone says, and what a receipt says or vouches for.
    fileprivate func withoutFreeParts(of alteration: Alteration) -> Self {
        var copy = self
        copy.receipt = nil
        copy.ignoresExtensions = false
        (copy.validationCategory, copy.bundleVersion) = (nil, nil)
        switch alteration {
        case .leafBody:
            (copy.platform, copy.osVersion) = (nil, nil)
            (copy.leafNotBefore, copy.leafNotAfter) = (EvaluationTime(milliseconds: 0), EvaluationTime(milliseconds: 0))
            copy.issued = IssueTime(notBefore: copy.leafNotBefore, serial: 0)
        case .extensionMap: copy.nonce = SHA256.hash([UInt8]())
        default: break
        }
        return copy
    }
}
