package import AppAttest
internal import Crypto
internal import JSON

/// What a receipt of the lab says.
package struct ReceiptFacts: Sendable, Equatable {
    package var type: ReceiptType
    /// UTF-8.
    package var appID: [UInt8]
    /// The leaf certificate, DER.
    package var leaf: [UInt8]
    /// Field 4, as it is written.
    package var clientHash: [UInt8]
    /// Field 5.
    package var token: [UInt8]
    package var environment: Environment
    package var createdAt: EvaluationTime
    package var notBefore: EvaluationTime?
    package var expiresAt: EvaluationTime
    /// Field 17, decimal text.
    package var riskMetric: [UInt8]?

    /// A RECEIPT that Apple gives for one that was sent: leaf and field 5 stay as they are, byte for byte.
    ///
    /// - Parameters:
    ///   - sent: genuine, of either type.
    ///   - metric: written in decimal.
    ///   - dates: the spans from `time` to the new receipt's Not Before and expiry.
    package init(
        refreshing sent: ReceiptContent,
        environment: Environment,
        metric: Int,
        at time: EvaluationTime,
        _ dates: ReceiptSpans = ReceiptSpans()
    ) {
        type = .receipt
        (appID, leaf, token) = (sent.appID, sent.leaf, sent.token ?? [])
        clientHash = Self.spoiled(sent.clientHash ?? [])
        self.environment = environment
        (createdAt, notBefore) = (time, time + dates.notBeforeSeconds)
        expiresAt = time + dates.expirySeconds
        riskMetric = Array(String(metric).utf8)
    }

    init(_ context: ReceiptContext) {
        let (type, device, time, dates) = (context.type, context.device, context.time, ReceiptSpans())
        self.type = type
        (appID, leaf, token) = (Array(device.appID.utf8), context.leaf, context.token)
        clientHash = type == .attest ? context.clientDataHash : Self.spoiled(context.clientDataHash)
        environment = device.environment
        (createdAt, expiresAt) = (time, time + dates.expirySeconds)
        guard type == .receipt else { return }
        notBefore = time + dates.notBeforeSeconds
        riskMetric = Array(String(1 + device.seed % 3).utf8)
    }

    /// Moves all dates.
    mutating func create(at time: EvaluationTime) {
        let shift = time.milliseconds - createdAt.milliseconds
        func moved(_ date: EvaluationTime) -> EvaluationTime { EvaluationTime(milliseconds: date.milliseconds + shift) }
        (createdAt, notBefore, expiresAt) = (time, notBefore.map(moved), moved(expiresAt))
    }

    /// All fields, in the order of their type.
    var fields: [ReceiptField] {
        let shared = [
            ReceiptField(type: 2, value: appID), ReceiptField(type: 3, value: leaf),
            ReceiptField(type: 4, value: clientHash), ReceiptField(type: 5, value: token),
        ]
        let kind = ReceiptField(type: 6, value: Array(type.rawValue.utf8))
        let place = ReceiptField(type: 7, value: Array(ReceiptContext.name(environment).utf8))
        let creation = ReceiptField(type: 12, value: CivilTime(createdAt).rfc3339)
        let metric = riskMetric.map { [ReceiptField(type: 17, value: $0)] } ?? []
        let beginning = notBefore.map { [ReceiptField(type: 19, value: CivilTime($0).rfc3339)] } ?? []
        let expiry = ReceiptField(type: 21, value: CivilTime(expiresAt).rfc3339)
        guard type == .receipt else { return shared + [kind, place, creation] + metric + beginning + [expiry] }
        return metric + [kind] + shared + [place, creation] + beginning + [expiry]
    }

    /// Apple's server pushes the hash through a UTF-8 string, which spoils it.
    private static func spoiled(_ hash: [UInt8]) -> [UInt8] { Array(String(decoding: hash, as: UTF8.self).utf8) }
}

/// The facts that a receipt is made from.
package struct ReceiptContext: Sendable {
    let device: FakeDevice
    let type: ReceiptType
    let leaf: [UInt8]
    let clientDataHash: [UInt8]
    let time: EvaluationTime

    static func name(_ environment: Environment) -> String {
        environment == .development ? "sandbox" : "production"
    }

    /// 64 bytes in base64, as Apple's are; their meaning is unknown outside Apple.
    var token: [UInt8] {
        if let hardware = device.hardware {
            return HardwareToken.text(hardware, device.keyID, at: time, secret: device.ca.secret)
        }
        let seed = device.keyID.bytes + CBORBytes.bigEndian(UInt64(bitPattern: time.milliseconds), 8)
        return Base64.encode(SHA256.hash([1] + seed).bytes + SHA256.hash([2] + seed).bytes)
    }
}

/// How long after its creation a receipt may be exchanged, and until when it is valid.
package struct ReceiptSpans: Sendable, Equatable {
    package var notBeforeSeconds: Int64
    package var expirySeconds: Int64

    /// The default is that of all receipts that were seen; Apple's example has 30 and 60 days.
    package init(notBeforeSeconds: Int64 = 86_400, expirySeconds: Int64 = 90 * 86_400) {
        (self.notBeforeSeconds, self.expirySeconds) = (notBeforeSeconds, expirySeconds)
    }
}

extension LabCA {
    /// A receipt that says `facts`, by the signer in service at its creation.
    ///
    /// - Parameter isForeign: whether its chain ends at a root that is not this authority's.
    package func receipt(_ facts: ReceiptFacts, isForeign: Bool = false) -> [UInt8] {
        let draft = receiptDraft((), facts, by: isForeign ? unfit.foreignReceipts : receipts)
        let content = draft.content
        return draft.encoded(content: content, signature: signer.sign(draft.signingRequest(over: content)).der)
    }

    func receiptDraft<Context>(
        _ context: Context,
        _ facts: ReceiptFacts,
        by authorities: ReceiptAuthorities
    ) -> ReceiptDraft<Context> {
        let signer = authorities.signer(at: facts.createdAt)
        return ReceiptDraft(
            context: context,
            fields: facts.fields,
            certificates: authorities.chain(signer).certificates,
            signerName: LabName.receiptIntermediate,
            signerSerial: signer.serial,
            signingKey: signer.key
        )
    }
}
