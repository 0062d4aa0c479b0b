import Crypto
import Testing

@testable import AppAttest

@Suite struct LeafCertificateTests {
    typealias Change = @Sendable (inout MadeLeaf) -> Void

    private func read(_ der: [UInt8]) throws(DERFault) -> LeafCertificate {
        try LeafCertificate(0..<der.count, der.span)
    }

    @Test func `a leaf of Apple's shape is read`() throws {
        let der = MadeLeaf().der
        let leaf = try read(der)
        #expect(leaf.key?.x963 == MadeLeaf.basePoint)
        #expect(der.span.array(leaf.issuer) == TestAuthority.intermediateName)
        #expect(leaf.validity.notBefore.milliseconds == 1_796_083_200_000)
        #expect(leaf.validity.notAfter.milliseconds == 1_796_342_400_000)
        #expect(der.span.array(leaf.signature) == DER.sequence(DER.integer([1]), DER.integer([1])))
        #expect(leaf.extensions.nonce == nil)
    }

    private static let allowed: [(String, Change)] = [
        ("no extensions", { $0.extensionField = [] }),
        ("no basicConstraints", { $0.extensions = [MadeLeaf.keyUsage] }),
        ("no keyUsage", { $0.extensions = [MadeLeaf.basicConstraints] }),
        ("digitalSignature alone", { $0.extensions[1] = keyUsage([0x07, 0x80]) }),
        ("a key usage of two octets", { $0.extensions[1] = keyUsage([0x07, 0x80, 0x80]) }),
        ("an unknown extension", { $0.extensions.append(MadeLeaf.ext([0x2A, 0x03], [0x05, 0x00])) }),
        ("critical extensions of Apple", { $0.extensions.append(MadeLeaf.apple(5, critical: true, [0x00])) }),
        ("generalized times", { $0.validity = DER.sequence(general("20261201000000Z"), general("20261204000000Z")) }),
    ]

    @Test(arguments: allowed) func `a leaf may have`(_ name: String, _ change: Change) throws {
        var leaf = MadeLeaf()
        change(&leaf)
        _ = try read(leaf.der)
    }

    private static let faults: [(String, Change)] = [
        ("version 1", { $0.version = [] }),
        ("version 2", { $0.version = DER.explicit(0, [0x02, 0x01, 0x01]) }),
        ("a padded serial", { $0.serial = DER.integer([0x00, 0x01]) }),
        ("no serial", { $0.serial = [] }),
        ("SHA-384 inside", { $0.innerAlgorithm = MadeLeaf.ecdsaWithSHA384 }),
        ("SHA-384 outside", { $0.outerAlgorithm = MadeLeaf.ecdsaWithSHA384 }),
        (
            "SHA-384 in both",
            { ($0.innerAlgorithm, $0.outerAlgorithm) = (MadeLeaf.ecdsaWithSHA384, MadeLeaf.ecdsaWithSHA384) }
        ),
        ("an issuer that is no sequence", { $0.issuer = DER.octets([]) }),
        ("a subject that is no sequence", { $0.subject = DER.octets([]) }),
        ("one date", { $0.validity = DER.sequence(MadeLeaf.utc("261201000000Z")) }),
        ("three dates", { $0.validity = DER.sequence(utc, utc, utc) }),
        ("a date that is none", { $0.validity = DER.sequence(MadeLeaf.utc("261301000000Z"), utc) }),
        ("a key algorithm that is no sequence", { $0.keyInfo = DER.sequence(DER.octets([]), DER.bits([0x04])) }),
        ("a key that is no bit string", { $0.keyInfo = DER.sequence(AlgorithmIdentifier.p256, DER.octets([0x04])) }),
        (
            "something after the key",
            { $0.keyInfo = DER.sequence(AlgorithmIdentifier.p256, DER.bits(MadeLeaf.basePoint), [0x05, 0x00]) }
        ),
        ("an issuer unique ID", { $0.extensionField = DER.element([0x81], [0x00, 0x01]) }),
        ("an empty list of extensions", { $0.extensions = [] }),
        ("something after the extensions", { $0.extensionField = DER.explicit(3, DER.sequence(keyUsage)) + [5, 0] }),
        ("something within [3]", { $0.extensionField = DER.explicit(3, DER.sequence(keyUsage) + [5, 0]) }),
        ("a CA", { $0.extensions[0] = MadeLeaf.ext([0x55, 0x1D, 0x13], critical: true, [0x30, 3, 1, 1, 0xFF]) }),
        ("cA FALSE spelt out", { $0.extensions[0] = MadeLeaf.ext([0x55, 0x1D, 0x13], [0x30, 3, 1, 1, 0]) }),
        ("a path length", { $0.extensions[0] = MadeLeaf.ext([0x55, 0x1D, 0x13], [0x30, 3, 2, 1, 0]) }),
        ("no digitalSignature", { $0.extensions[1] = keyUsage([0x04, 0x70]) }),
        ("an empty key usage", { $0.extensions[1] = keyUsage([0x00]) }),
        ("a key usage with set unused bits", { $0.extensions[1] = keyUsage([0x04, 0xFF]) }),
        ("a key usage of three octets", { $0.extensions[1] = keyUsage([0x07, 0x80, 0x00, 0x80]) }),
        ("a key usage without a bit in its last octet", { $0.extensions[1] = keyUsage([0x08, 0x80, 0x00]) }),
        ("a key usage with trailing zeros", { $0.extensions[1] = keyUsage([0x00, 0x80]) }),
        ("an unknown critical extension", { $0.extensions.append(MadeLeaf.ext([0x2A], critical: true, [5, 0])) }),
        ("an unknown critical one of Apple's", { $0.extensions.append(MadeLeaf.apple(4, critical: true, [5, 0])) }),
        ("the same extension twice", { $0.extensions += [$0.extensions[0]] }),
        ("the same unknown extension twice", { $0.extensions += [MadeLeaf.apple(9, [1]), MadeLeaf.apple(9, [2])] }),
        ("critical spelt FALSE", { $0.extensions[0] = criticalSpelt(0x00) }),
        ("critical spelt 01", { $0.extensions[0] = criticalSpelt(0x01) }),
        ("33 extensions", { $0.extensions += (0..<31).map { MadeLeaf.ext([0x2A, $0], [5, 0]) } }),
        ("a signature of broken octets", { $0.signature = DER.element([0x03], [0x01, 0x30, 0x00]) }),
        ("no signature", { $0.signature = [] }),
        ("something after the signature", { $0.afterSignature = [0x05, 0x00] }),
    ]

    @Test(arguments: faults) func `a leaf is refused for`(_ name: String, _ change: Change) {
        var leaf = MadeLeaf()
        change(&leaf)
        #expect(throws: DERFault.self) { try read(leaf.der) }
    }

    private static let foreignKeys: [(String, [UInt8])] = [
        ("another curve", DER.sequence(DER.sequence(DER.oid([0x2B, 0x81, 0x04, 0x00, 0x22])), DER.bits([0x04]))),
        ("a compressed point", DER.sequence(AlgorithmIdentifier.p256, DER.bits([0x02] + MadeLeaf.basePoint[1..<33]))),
        (
            "a point off the curve",
            DER.sequence(AlgorithmIdentifier.p256, DER.bits(MadeLeaf.basePoint.dropLast() + [0]))
        ),
        ("a short point", DER.sequence(AlgorithmIdentifier.p256, DER.bits(MadeLeaf.basePoint.dropLast()))),
        ("no point", DER.sequence(AlgorithmIdentifier.p256, DER.bits([]))),
    ]

    @Test(arguments: foreignKeys)
    func `a key that is not a point on P-256 is nil`(_ name: String, _ keyInfo: [UInt8]) throws {
        var leaf = MadeLeaf()
        leaf.keyInfo = keyInfo
        #expect(try read(leaf.der).key == nil)
    }

    @Test func `every truncation, a byte after the certificate, and a signed part that is no sequence are refused`() {
        let der = MadeLeaf().der
        #expect(der[0] == 0x30 && der[1] == 0x82 && der[4] == 0x30)
        var other = der
        other[4] = 0x31
        for bytes in der.indices.map({ Array(der[..<$0]) }) + [der + [0x00], other] {
            #expect(throws: DERFault.self) { try read(bytes) }
        }
    }
}

private let utc = MadeLeaf.utc("261204000000Z")
private let keyUsage = MadeLeaf.keyUsage

private func general(_ text: String) -> [UInt8] { DER.element([0x18], Array(text.utf8)) }

private func keyUsage(_ bits: [UInt8]) -> [UInt8] {
    MadeLeaf.ext([0x55, 0x1D, 0x0F], critical: true, DER.element([0x03], bits))
}

private func criticalSpelt(_ value: UInt8) -> [UInt8] {
    DER.sequence(DER.oid([0x55, 0x1D, 0x13]), [0x01, 0x01, value], DER.octets([0x30, 0x00]))
}
