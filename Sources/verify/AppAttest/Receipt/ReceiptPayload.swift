/// A receipt's content: a SET OF SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }, in any order.
///
/// Types that are not listed here are ignored, duplicate types are refused.
struct ReceiptPayload: Sendable {
    /// The receipt's content, which the ranges below point into.
    let bytes: [UInt8]
    /// Field 2, UTF-8.
    let appID: Range<Int>
    /// Field 3: the attested key's leaf certificate, DER.
    let leaf: Range<Int>
    /// Field 4: the client data hash; garbage in RECEIPT receipts.
    let clientHash: Range<Int>?
    /// Field 5.
    let token: Range<Int>?
    /// Field 6; nil for a type that Apple does not document.
    let type: ReceiptType?
    /// Field 7, undocumented; nil if it is missing or has another value.
    let environment: Environment?
    /// Fields 12, 19 and 21.
    let createdAt: EvaluationTime
    let notBefore: EvaluationTime?
    let expiresAt: EvaluationTime
    /// Field 17, decimal text.
    let riskMetric: ExactText?

    private static let maxFields = 64
    private static let maxRiskMetricBytes = 16

    init(_ bytes: [UInt8]) throws(ReceiptRefusal) {
        let span = bytes.span
        let fields = try Self.fields(span)
        guard let appID = fields[2], let leaf = fields[3], let kind = fields[6], let creation = fields[12],
            let expiry = fields[21], let createdAt = ReceiptDate.time(creation, span),
            let expiresAt = ReceiptDate.time(expiry, span)
        else { throw .malformed }
        self.bytes = bytes
        (self.appID, self.leaf, clientHash, token) = (appID, leaf, fields[4], fields[5])
        type = ReceiptType.allCases.first { span.holds($0.rawValue, in: kind) }
        environment = fields[7].flatMap { Self.environment($0, span) }
        (self.createdAt, self.expiresAt) = (createdAt, expiresAt)
        notBefore = fields[19].flatMap { ReceiptDate.time($0, span) }
        riskMetric = fields[17].flatMap { $0.count <= Self.maxRiskMetricBytes ? span.text($0) : nil }
        // Both may be missing, but not unreadable.
        guard (notBefore == nil) == (fields[19] == nil), (riskMetric == nil) == (fields[17] == nil) else {
            throw .malformed
        }
    }

    private static func fields(_ bytes: Span<UInt8>) throws(ReceiptRefusal) -> [UInt32: Range<Int>] {
        var fields: [UInt32: Range<Int>] = [:]
        fields.reserveCapacity(16)
        do throws(DERFault) {
            var set = DERReader(try DERReader.only(.set, in: 0..<bytes.count, bytes))
            while !set.isAtEnd {
                var field = DERReader(try set.next(.sequence, bytes))
                let type = try field.integer(bytes)
                let version = try field.integer(bytes)
                let value = try field.next(.octetString, bytes)
                try field.expectEnd()
                // No negative type, and only version 1, whose meaning is known.
                guard bytes[type.lowerBound] < 0x80, let number = bytes.bigEndian(type), bytes.holds([1], in: version),
                    fields.count < maxFields, fields.updateValue(value, forKey: number) == nil
                else { throw DERFault(offset: type.lowerBound) }
            }
        } catch {
            throw .malformed
        }
        return fields
    }

    private static func environment(_ range: Range<Int>, _ bytes: Span<UInt8>) -> Environment? {
        if bytes.holds("production", in: range) { return .production }
        return bytes.holds("sandbox", in: range) ? .development : nil
    }
}

extension ReceiptPayload {
    /// The content of a receipt before anything about it is verified; nil where it cannot be read.
    init?(ofReceipt receipt: [UInt8]) {
        guard receipt.count <= ObjectLimits.default.receiptBytes,
            let container = try? ReceiptContainer(receipt.span), let payload = try? ReceiptPayload(container.content)
        else { return nil }
        self = payload
    }
}
