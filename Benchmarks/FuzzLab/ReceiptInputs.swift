internal import AppAttest
internal import DeviceLab

/// Receipts on their own: valid ones, ones with a single fault, ones with damaged bytes.
extension DeviceInputs {
    func validReceipt(_ type: ReceiptType, _ random: inout SeededRandom, _ tally: inout Tally, _ way: Judge.Way) {
        let circumstances = Circumstances(device, &random)
        let result = verdict(receipt(type, nil, circumstances, way), type, circumstances, way)
        tally.count(code(result))
        guard case .success(let found) = result, found.refusal == nil, found.type == type else {
            return tally.mistake("\(device.shape.rawValue): a valid \(type.rawValue) receipt: \(result)")
        }
    }

    func faulty(
        _ fault: ReceiptFault,
        _ type: ReceiptType,
        _ random: inout SeededRandom,
        _ tally: inout Tally,
        _ way: Judge.Way
    ) {
        let circumstances = Circumstances(device, &random).atOnce
        let code = code(verdict(receipt(type, fault, circumstances, way), type, circumstances, way))
        tally.count(code)
        let expected = Refusal.receipt(fault.expected).code
        if code != expected { tally.mistake("\(type.rawValue) receipt \(fault.name): \(code), not \(expected)") }
    }

    /// What is accepted after damage says the same: parts of a CMS message are not signed.
    func damagedReceipt(_ type: ReceiptType, _ random: inout SeededRandom, _ tally: inout Tally, _ way: Judge.Way) {
        let circumstances = Circumstances(device, &random)
        let object = receipt(type, nil, circumstances, way)
        let damaged = Mutation.damage(object, &random)
        let result = verdict(damaged, type, circumstances, way)
        tally.count(code(result))
        guard case .success(let found) = result, found.refusal == nil, damaged != object else { return }
        tally[.mutatedAccepted] += 1
        if verdict(object, type, circumstances, way) != .success(found) {
            tally.mistake("\(device.shape.rawValue): a damaged receipt says something else: \(found)")
        }
    }

    private func receipt(
        _ type: ReceiptType,
        _ fault: ReceiptFault?,
        _ circumstances: Circumstances,
        _ way: Judge.Way
    ) -> [UInt8] {
        maker(way)
            .receipt(type, clientDataHash: circumstances.clientDataHash, at: circumstances.issued, fault: fault)
    }

    private func verdict(
        _ receipt: [UInt8],
        _ type: ReceiptType,
        _ circumstances: Circumstances,
        _ way: Judge.Way
    ) -> Result<ReceiptVerdict, Refusal> {
        let expectations = device.receiptExpectations(type, clientDataHash: circumstances.clientDataHash)
        return judge.receipt(receipt, expectations, at: circumstances.judged, way)
    }

    private func code(_ result: Result<ReceiptVerdict, Refusal>) -> String {
        switch result {
        case .success(let found): found.refusal.map { Refusal.receipt($0).code } ?? "accepted"
        case .failure(let refusal): refusal.code
        }
    }
}
