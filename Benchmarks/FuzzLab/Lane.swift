internal import AppAttest
internal import DeviceLab

/// Runs chunks of inputs; what a chunk holds depends on the seed and its number alone, not on the lane.
final class Lane {
    static let chunk = 1000

    private let pool: Pool
    private let seed: UInt64
    private let judge: Judge
    private let attestationFaults: [DeviceShape: FaultMenu<AttestationFault>]
    private let assertionFaults: [DeviceShape: FaultMenu<AssertionFault>]
    private let receiptFaults: [ReceiptType: FaultMenu<ReceiptFault>]
    private let embeddedReceiptFaults = FaultMenu<ReceiptFault>.inAttestations

    init(pool: Pool, seed: UInt64) {
        self.pool = pool
        self.seed = seed
        judge = Judge(anchors: pool.anchors)
        let shapes = DeviceShape.allCases
        attestationFaults = Dictionary(uniqueKeysWithValues: shapes.map { ($0, .of($0)) })
        assertionFaults = Dictionary(uniqueKeysWithValues: shapes.map { ($0, .of($0)) })
        receiptFaults = [.attest: .alone(.attest), .receipt: .alone(.receipt)]
    }

    func run(chunk: Int) -> Tally {
        var random = SeededRandom(seed: seed &+ UInt64(chunk) &* 0xD134_2543_DE82_EF95)
        var tally = Tally()
        for index in 0..<Self.chunk {
            // One in a thousand also with real signatures, one in a hundred with nothing cached.
            let way = Judge.Way(isReal: index == 0, isFresh: index % 100 == 1)
            if way.isReal { tally[.crossChecked] += 1 }
            input(&random, &tally, way)
        }
        return tally
    }

    private func input(_ random: inout SeededRandom, _ tally: inout Tally, _ way: Judge.Way) {
        let index = random.below(pool.imitated.count)
        let inputs = DeviceInputs(judge: judge, device: pool.imitated[index], realDevice: pool.real[index])
        switch random.below(20) {
        case 0..<9: attestation(of: inputs, &random, &tally, way)
        case 9..<17: assertion(of: inputs, &random, &tally, way)
        default: receipt(of: inputs, &random, &tally, way)
        }
    }

    private func attestation(
        of inputs: DeviceInputs,
        _ random: inout SeededRandom,
        _ tally: inout Tally,
        _ way: Judge.Way
    ) {
        let (kind, fault) = (random.below(11), attestationFaults[inputs.device.shape]?.draw(&random))
        switch (kind, fault) {
        case (1...3, _): inputs.damagedAttestation(&random, &tally, way)
        case (10, _): inputs.resignedAttestation(&random, &tally, way)
        case (4, _) where inputs.device.shape.hasReceipt:
            inputs.faultyReceipt(embeddedReceiptFaults.draw(&random), &random, &tally, way)
        case (4..., let fault?): inputs.faulty(fault, &random, &tally, way)
        default: inputs.validAttestation(&random, &tally, way)
        }
    }

    private func assertion(
        of inputs: DeviceInputs,
        _ random: inout SeededRandom,
        _ tally: inout Tally,
        _ way: Judge.Way
    ) {
        let (kind, fault) = (random.below(12), assertionFaults[inputs.device.shape]?.draw(&random))
        switch (kind, fault) {
        case (1...3, _): inputs.damagedAssertion(&random, &tally, way)
        case (10, _): inputs.resignedAssertion(&random, &tally, way)
        case (11, _): inputs.movedBoundary(&random, &tally, way)
        case (4..., let fault?): inputs.faulty(fault, &random, &tally, way)
        default: inputs.validAssertion(&random, &tally, way)
        }
    }

    private func receipt(
        of inputs: DeviceInputs,
        _ random: inout SeededRandom,
        _ tally: inout Tally,
        _ way: Judge.Way
    ) {
        let type: ReceiptType = random.below(2) == 0 ? .attest : .receipt
        let (kind, fault) = (random.below(10), receiptFaults[type]?.draw(&random))
        switch (kind, fault) {
        case (1...3, _): inputs.damagedReceipt(type, &random, &tally, way)
        case (4..., let fault?): inputs.faulty(fault, type, &random, &tally, way)
        default: inputs.validReceipt(type, &random, &tally, way)
        }
    }
}
