import Crypto
import Testing

@testable import AppAttest
@testable import DeviceLab

/// One fault at a time in a receipt that is signed again over it, each with its reason.
@Suite struct ReceiptReasonTests {
    typealias Change = @Sendable (inout MadeReceipt) -> Void

    private static let cases: [(ReceiptRefusal?, Change)] = [
        (nil, { _ in }),
        // Digest algorithms without parameters.
        (
            nil,
            {
                $0.algorithms = DER.element([0x31], MadeReceipt.sha256WithoutNull)
                $0.signerDigest = MadeReceipt.sha256WithoutNull
            }
        ),
        // No root, certificates in another order, an unknown field, 64 fields, fraction digits.
        (nil, { $0.certificates.removeLast() }),
        (nil, { $0.certificates.reverse() }),
        (nil, { $0.addField([99]) }),
        (nil, { $0.fields += (30...85).map { ($0, [1]) } }),
        (nil, { $0.set(12, "2027-01-15T07:59:59.123456789Z") }),
        // Signed attributes that the signature covers.
        (nil, { $0.attributes = MadeReceipt.attributes(digest: SHA256.hash($0.content)) }),
        (.malformed, { $0.contentType = OID.envelopedData }),
        (.malformed, { $0.version = [0x02, 0x01, 0x03] }),
        (.malformed, { $0.signerVersion = [0x02, 0x01, 0x03] }),
        (.malformed, { $0.algorithms = DER.element([0x31]) }),
        (
            .malformed,
            { $0.algorithms = DER.element([0x31], MadeReceipt.sha256Algorithm + MadeReceipt.sha256Algorithm) }
        ),
        (.malformed, { $0.signerDigest = DER.sequence(OID.p256) }),
        (.malformed, { $0.signatureAlgorithm = DER.sequence(OID.ecdsaSHA384) }),
        (.malformed, { $0.afterSignature = DER.element([0xA1], DER.sequence()) }),
        (.malformed, { $0.afterCertificates = DER.element([0xA1], DER.sequence()) }),
        (.malformed, { $0.signerID = DER.element([0x80], [1, 2, 3]) }),
        (.malformed, { $0.certificates += [MadeReceipt.ca.receiptRoot, MadeReceipt.ca.receiptRoot] }),
        (.malformed, { $0.certificates = [[0x02, 0x01, 0x00]] }),
        (.malformed, { $0.encapsulated = $0.wrap(0x30, OID.data) }),
        (.malformed, { $0.encapsulated = $0.wrap(0x30, OID.data + $0.wrap(0xA0, $0.octets($0.content) + [0x04, 0])) }),
        // A chunk in a chunk.
        (
            .malformed,
            { receipt in
                let chunk = receipt.wrap(0x24, receipt.octets(receipt.content))
                receipt.encapsulated = receipt.wrap(0x30, OID.data + receipt.wrap(0xA0, chunk))
            }
        ),
        (.malformed, { $0.payload = [] }),
        (.malformed, { $0.payload = $0.content + [0] }),
        (.malformed, { $0.payload = DER.element([0x30], Array($0.content.dropFirst(4))) }),
        (.malformed, { $0.fields.append((2, Array("TEAM.app".utf8))) }),
        (.malformed, { $0.payload = DER.element([0x31], MadeReceipt.field([0x00, 0x02], [1])) }),
        // A negative type, an unknown version, and 65 fields.
        (.malformed, { $0.addField([0x82]) }),
        (.malformed, { $0.addField([99], version: [2]) }),
        (.malformed, { $0.fields += (30...86).map { ($0, [1]) } }),
        (.malformed, { $0.set(2, nil) }),
        (.malformed, { $0.set(3, nil) }),
        (.malformed, { $0.set(6, nil) }),
        (.malformed, { $0.set(12, nil) }),
        (.malformed, { $0.set(12, "2027-01-15") }),
        (.malformed, { $0.set(19, "tomorrow") }),
        (.malformed, { $0.set(17, "12345678901234567") }),
        (.malformed, { $0.set(21, nil) }),
        (.badCertificate, { $0.certificates[2] = DER.sequence() }),
        (
            .badCertificate,
            {
                $0.certificates[1].append(0); $0.certificates[1][3] &+= 1
            }
        ),
        (.chain, { $0.certificates = [] }),
        (.chain, { $0.certificates.removeFirst() }),
        (.chain, { $0.certificates.remove(at: 1) }),
        (.chain, { $0.certificates.append($0.certificates[0]) }),
        (.chain, { $0.certificates.append($0.certificates[1]) }),
        // An extra certificate, of another chain.
        (.chain, { $0.certificates.append(MadeReceipt.ca.attestationRoot) }),
        (.chain, { $0.signerID = DER.sequence(MadeReceipt.intermediate.name, [0x02, 0x01, 0x01]) }),
        (.chain, { $0.signerID = DER.sequence(MadeReceipt.signer.name, MadeReceipt.serial(MadeReceipt.signer)) }),
        // The intermediate as signer: named rightly, but no signer of receipts.
        (
            .badCertificate,
            { receipt in
                let root = MadeReceipt.ca.receipts.root
                receipt.signerID = DER.sequence(root.name, MadeReceipt.serial(MadeReceipt.intermediate))
                receipt.key = MadeReceipt.intermediate.key
            }
        ),
        (.expiredOrNotYetValid, { $0.set(12, "2026-01-19T23:59:59Z") }),
        (.expiredOrNotYetValid, { $0.set(12, "2028-02-18T00:00:00.001Z") }),
        (.signature, { $0.key = MadeReceipt.intermediate.key }),
        (.signature, { $0.attributes = MadeReceipt.attributes(digest: SHA256.hash([])) }),
        (.signature, { $0.attributes = [] }),
        (
            .signature,
            { receipt in
                let attributes = MadeReceipt.attributes(digest: SHA256.hash(receipt.content))
                receipt.attributes = Array(attributes.dropFirst())
            }
        ),
        // Attributes of a message of another type, everything else being right and signed.
        (.signature, { $0.setContentTypes([[OID.signedData]]) }),
        (.signature, { $0.setContentTypes([[OID.data, OID.signedData]]) }),
        (.signature, { $0.setContentTypes([[OID.data], [OID.data]]) }),
        (.signature, { $0.setContentTypes([[]]) }),
        (.type, { $0.set(6, "RECEIPT") }),
        (.type, { $0.set(6, "attest") }),
        (.appID, { $0.set(2, "TEAM.App") }),
        (.appID, { $0.set(2, "") }),
        (.environment, { $0.set(7, "sandbox") }),
        (.environment, { $0.set(7, nil) }),
        (.environment, { $0.set(7, "PRODUCTION") }),
        (.keyMismatch, { $0.set(3, "0") }),
        (.clientHash, { $0.set(4, nil) }),
        (.clientHash, { $0.set(4, "1") }),
        (.fromFuture, { $0.set(12, "2027-01-15T08:01:00.001Z") }),
        (.expired, { $0.set(21, "2027-01-15T07:59:59.999Z") }),
    ]

    @Test(arguments: cases)
    func `one fault has its reason, in BER and in DER`(_ refusal: ReceiptRefusal?, _ change: Change) throws {
        var receipt = MadeReceipt()
        change(&receipt)
        #expect(try receipt.verdict().refusal == refusal)
        receipt.isIndefinite = false
        #expect(try receipt.verdict().refusal == refusal)
    }

    @Test func `of two faults the first one judged is the reason`() throws {
        var receipt = MadeReceipt()
        receipt.set(7, "sandbox")
        receipt.set(2, "TEAM.other")
        #expect(try receipt.verdict().refusal == .appID)
        receipt.key = MadeReceipt.intermediate.key
        #expect(try receipt.verdict().refusal == .signature)
        receipt.set(12, "2020-01-01T00:00:00Z")
        #expect(try receipt.verdict().refusal == .expiredOrNotYetValid)
        receipt.certificates.removeLast(2)
        #expect(try receipt.verdict().refusal == .chain)
        receipt.certificates[0] = DER.sequence()
        #expect(try receipt.verdict().refusal == .badCertificate)
        receipt.version = []
        #expect(try receipt.verdict().refusal == .malformed)
    }

    @Test func `the cache of signers is bounded, keeps only chained ones and changes no verdict`() throws {
        var receipt = MadeReceipt()
        let certificates = receipt.certificates
        var signers = ReceiptSigners(roots: MadeReceipt.roots, capacity: 2)
        for order in [
            [0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0], [0, 1], [1, 0], [0, 1, 2],
        ] {
            receipt.certificates = order.map { certificates[$0] }
            let bytes = receipt.bytes
            let container = try ReceiptContainer(bytes.span)
            let signer = try signers.trusted(container, bytes.span)
            #expect(signer.key.x963 == MadeReceipt.signer.key.x963)
            #expect(try signers.trusted(container, bytes.span).id == signer.id)
            #expect((1...2).contains(signers.count))
        }
        let count = signers.count
        receipt.certificates = [certificates[0], MadeReceipt.ca.attestationRoot]
        let bytes = receipt.bytes
        let container = try ReceiptContainer(bytes.span)
        #expect(throws: ReceiptRefusal.chain) { try signers.trusted(container, bytes.span) }
        #expect(signers.count == count)
    }

    @Test func `a refused receipt still reports its readable fields`() throws {
        var receipt = MadeReceipt()
        receipt.set(17, "3")
        receipt.set(19, "2027-01-16T08:00:00.5Z")
        receipt.key = MadeReceipt.intermediate.key
        let verdict = try receipt.verdict()
        #expect(verdict.type == .attest)
        #expect(verdict.createdAt == MadeReceipt.time)
        #expect(verdict.notBefore?.milliseconds == MadeReceipt.time.milliseconds + 86_400_500)
        #expect(verdict.expiresAt?.milliseconds == MadeReceipt.time.milliseconds + 90 * 86_400_000)
        #expect(verdict.riskMetric == "3")
    }

    @Test func `a receipt of more than 8 KiB is malformed`() throws {
        var receipt = MadeReceipt()
        receipt.fields.append((99, [UInt8](repeating: 0, count: 4_000)))
        #expect(try receipt.verdict().refusal == nil)
        receipt.fields.append((98, [UInt8](repeating: 0, count: 3_000)))
        #expect(receipt.bytes.count > 8_192)
        #expect(try receipt.verdict().refusal == .malformed)
    }

    @Test func `bytes between the certificates must be certificates`() throws {
        let bytes = MadeReceipt().bytes
        #expect(try MadeReceipt.verdict(of: bytes).refusal == nil)
        let start = try #require(
            bytes.indices.first { bytes[$0...].starts(with: MadeReceipt.intermediate.certificate) }
        )
        for extra in [[0x00, 0x00], [0x05, 0x00], [0x31, 0x00]] as [[UInt8]] {
            var changed = bytes
            changed.insert(contentsOf: extra, at: start)
            #expect(try MadeReceipt.verdict(of: changed).refusal == .malformed)
        }
    }

    @Test func `lengths that are not minimal are malformed`() throws {
        var receipt = MadeReceipt()
        receipt.isIndefinite = false
        let bytes = receipt.bytes
        #expect(bytes[1] == 0x82)
        let longer = [bytes[0], 0x83, 0x00] + bytes[2...]
        #expect(try MadeReceipt.verdict(of: longer).refusal == .malformed)
    }
}
