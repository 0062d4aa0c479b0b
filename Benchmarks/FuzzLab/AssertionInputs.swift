internal import AppAttest
internal import DeviceLab

/// Assertions: valid ones, ones with a single fault, ones with damaged bytes.
extension DeviceInputs {
    /// A device's assertion without a fault is accepted, and its counter reported.
    func validAssertion(_ random: inout SeededRandom, _ tally: inout Tally, _ way: Judge.Way) {
        let circumstances = Circumstances(device, &random)
        let counter = UInt32(truncatingIfNeeded: random.next())
        let result = verdict(nil, counter, circumstances, way)
        tally.count(code(result))
        guard case .success(let evidence) = result else {
            return tally.mistake("\(device.shape.rawValue): a valid assertion is refused: \(code(result))")
        }
        let shape = device.shape
        let counts = shape.setsEDFlag || circumstances.expectations.extensionTrust == .any
        let isRight =
            evidence.counter == counter && evidence.appID.text == device.appID
            && evidence.validationCategory == (counts && shape.hasCategory ? device.category : nil)
            && evidence.bundleVersion == (counts && shape.hasBundleVersion ? ExactText(device.bundleVersion) : nil)
            && evidence.ignoresExtensions == (!counts && shape.hasCategory)
        if !isRight { tally.mistake("\(device.shape.rawValue): wrong evidence \(evidence)") }
    }

    /// One fault gives exactly its reason.
    func faulty(_ fault: AssertionFault, _ random: inout SeededRandom, _ tally: inout Tally, _ way: Judge.Way) {
        var circumstances = Circumstances(device, &random)
        if fault.needsPolicy { circumstances.expectations = device.expectations }
        circumstances.expectations = fault.neededExpectations(circumstances.expectations, for: device)
        let code = code(verdict(fault, UInt32(1 + random.below(1000)), circumstances, way))
        tally.count(code)
        if code != fault.expected.code {
            tally.mistake("\(device.shape.rawValue), assertion \(fault.name): \(code), not \(fault.expected.code)")
        }
    }

    /// Damaged bytes are never accepted, but for the hash that lies outside of everything signed.
    func damagedAssertion(_ random: inout SeededRandom, _ tally: inout Tally, _ way: Judge.Way) {
        let circumstances = Circumstances(device, &random)
        let maker = maker(way)
        let object = maker.assertion(
            clientDataHash: circumstances.clientDataHash,
            counter: UInt32(1 + random.below(1000))
        )
        let damaged = Mutation.damage(object, &random)
        let result = judge.assertion(damaged, by: device.publicKey, circumstances, way)
        tally.count(code(result))
        guard case .success(let evidence) = result, damaged != object else { return }
        tally[.mutatedAccepted] += 1
        let original = judge.assertion(object, by: device.publicKey, circumstances, way)
        if original != .success(evidence) || device.shape != .ios18_5CDHash {
            tally.mistake("\(device.shape.rawValue): a damaged assertion is accepted: \(evidence)")
        }
    }

    private func verdict(
        _ fault: AssertionFault?,
        _ counter: UInt32,
        _ circumstances: Circumstances,
        _ way: Judge.Way
    ) -> Result<AssertionEvidence, Refusal> {
        let object = maker(way).assertion(
            clientDataHash: circumstances.clientDataHash,
            counter: counter,
            fault: fault
        )
        return judge.assertion(object, by: device.publicKey, circumstances, way)
    }
}
