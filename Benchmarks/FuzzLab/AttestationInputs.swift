internal import AppAttest
internal import DeviceLab

/// Attestations: valid ones, ones with a single fault, ones with damaged bytes.
extension DeviceInputs {
    /// A device's attestation without a fault is accepted, with the device's own key as evidence.
    func validAttestation(_ random: inout SeededRandom, _ tally: inout Tally, _ way: Judge.Way) {
        let circumstances = Circumstances(device, &random)
        let result = verdict(nil, nil, circumstances, way)
        tally.count(code(result))
        guard case .success(let evidence) = result else {
            return tally.mistake("\(device.shape.rawValue): a valid attestation is refused: \(code(result))")
        }
        let isRight =
            evidence.publicKey == device.publicKey && evidence.environment == device.environment
            && evidence.appID.text == device.appID && evidence.receipt?.refusal == nil
        if !isRight { tally.mistake("\(device.shape.rawValue): wrong evidence \(evidence)") }
    }

    /// One fault gives exactly its reason.
    func faulty(_ fault: AttestationFault, _ random: inout SeededRandom, _ tally: inout Tally, _ way: Judge.Way) {
        var circumstances = Circumstances(device, &random).atOnce
        if fault.needsPolicy || fault.needsReceipts { circumstances.expectations = device.expectations }
        circumstances.expectations.macACL = .require
        circumstances.expectations = fault.neededExpectations(circumstances.expectations, for: device)
        let code = code(verdict(fault, nil, circumstances, way))
        tally.count(code)
        if code != fault.expected.code {
            tally.mistake("\(device.shape.rawValue), \(fault.name): \(code), not \(fault.expected.code)")
        }
    }

    /// A faulty receipt refuses the attestation where the policy requires receipts or the receipt names another hash;
    /// elsewhere it is only reported.
    func faultyReceipt(_ fault: ReceiptFault, _ random: inout SeededRandom, _ tally: inout Tally, _ way: Judge.Way) {
        var circumstances = Circumstances(device, &random).atOnce
        let isAsked = random.below(2) == 0
        circumstances.expectations.receipt = isAsked ? .require : .report
        let isRequired = isAsked || fault == .otherClientHash
        let result = verdict(nil, fault, circumstances, way)
        let expected = Refusal.receipt(fault.expected)
        switch result {
        case .failure(let refusal):
            tally.count(refusal.code)
            if !isRequired || refusal != expected {
                tally.mistake("receipt \(fault.name): \(refusal.code), not \(expected.code)")
            }
        case .success(let evidence):
            let found = evidence.receipt?.refusal ?? (evidence.receipt == nil ? .missing : nil)
            tally.count(found.map { Refusal.receipt($0).code } ?? "accepted")
            if isRequired || found != fault.expected {
                tally.mistake("receipt \(fault.name): \(found?.rawValue ?? "accepted"), not \(expected.code)")
            }
        }
    }

    /// Damaged bytes are refused, or lie where nothing is signed and change no evidence.
    func damagedAttestation(_ random: inout SeededRandom, _ tally: inout Tally, _ way: Judge.Way) {
        let circumstances = Circumstances(device, &random)
        let maker = maker(way)
        let object = maker.attest(clientDataHash: circumstances.clientDataHash, at: circumstances.issued)
        let damaged = Mutation.damage(object, &random)
        let result = judge.attestation(damaged, of: device.keyID, circumstances, way)
        tally.count(code(result))
        guard case .success(var evidence) = result, damaged != object else { return }
        guard case .success(var original) = judge.attestation(object, of: device.keyID, circumstances, way) else {
            return tally.mistake("\(device.shape.rawValue): damage makes acceptable what was refused")
        }
        tally[.mutatedAccepted] += 1
        (evidence.receipt, original.receipt) = (nil, nil)
        if evidence.ignoresExtensions {
            // The damaged receipt no longer vouches for the map.
            original.ignoresExtensions = true
            (original.validationCategory, original.bundleVersion) = (nil, nil)
        }
        if evidence != original { tally.mistake("\(device.shape.rawValue): damage changes the evidence: \(evidence)") }
        // What is not signed: the receipt under a policy that does not ask for it, and the hash outside of everything.
        if !device.shape.hasReceipt, device.shape != .ios18_5CDHash {
            tally.mistake("\(device.shape.rawValue): damaged bytes are accepted")
        }
    }

    private func verdict(
        _ fault: AttestationFault?,
        _ receiptFault: ReceiptFault?,
        _ circumstances: Circumstances,
        _ way: Judge.Way
    ) -> Result<AttestationEvidence, Refusal> {
        let object = maker(way).attest(
            clientDataHash: circumstances.clientDataHash,
            at: circumstances.issued,
            fault: fault,
            receiptFault: receiptFault
        )
        return judge.attestation(object, of: device.keyID, circumstances, way)
    }
}
