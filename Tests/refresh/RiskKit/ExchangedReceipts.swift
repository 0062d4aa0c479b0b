internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import Risk

/// The worker behind a refresher: genuine receipts of the key, with a metric, newer than what it keeps.
struct ExchangedReceipts {
    private let verifier: ObjectVerifier
    private let engine: any SignatureEngine
    private var kept: [KeyID: EvaluationTime] = [:]

    init(_ verifier: ObjectVerifier, _ engine: any SignatureEngine) {
        (self.verifier, self.engine) = (verifier, engine)
    }

    mutating func takes(
        _ receipt: [UInt8],
        of device: FakeDevice,
        exchanged: EvaluationTime,
        at time: EvaluationTime
    ) -> Bool {
        let prepared = verifier.prepareExchangedReceipt(
            receipt,
            keyID: device.keyID,
            expectations: Expectations(appIDs: [AppID(device.appID)]),
            at: time
        )
        guard case .success(let evidence) = prepared.verified(by: engine), evidence.receipt.metric != nil,
            let created = evidence.receipt.createdAt
        else { return false }
        if let last = kept[device.keyID], created <= last || exchanged < last { return false }
        kept[device.keyID] = created
        return true
    }

    /// Whether the receipt that was sent is superseded.
    func hasLater(_ dates: ReceiptDates, of device: FakeDevice) -> Bool {
        kept[device.keyID].map { $0 > dates.createdAt } ?? false
    }
}
