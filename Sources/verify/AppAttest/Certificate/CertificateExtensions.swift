/// The extensions of a certificate that OpenSSL has read: refuses what OpenSSL accepts and RFC 5280 does not.
///
/// OpenSSL knows name constraints, policies and extended key usage, so it does not call them unknown; but no code here
/// processes them, and OpenSSL takes any octet but 0 for TRUE.
enum CertificateExtensions {
    enum Flaw: Error, Equatable {
        /// A critical extension that is neither basicConstraints nor keyUsage.
        case unprocessedCritical
        /// Not the DER of a certificate's extensions.
        case notDER
    }

    /// - Parameter der: the whole certificate.
    static func judge(_ der: [UInt8]) throws(Flaw) {
        let areProcessed: Bool
        do throws(DERFault) { areProcessed = try allAreProcessed(der.span) } catch { throw .notDER }
        guard areProcessed else { throw .unprocessedCritical }
    }

    /// The same for the content of a certificate's [3].
    static func judge(list: Range<Int>, _ bytes: Span<UInt8>) throws(DERFault) {
        guard try allAreProcessed(list, bytes) else { throw DERFault(offset: list.lowerBound) }
    }

    private static func allAreProcessed(_ bytes: Span<UInt8>) throws(DERFault) -> Bool {
        var certificate = DERReader(try DERReader.only(.sequence, in: 0..<bytes.count, bytes))
        var fields = DERReader(try certificate.next(.sequence, bytes))
        guard let list = try find(&fields, bytes) else { return true }
        return try allAreProcessed(list, bytes)
    }

    private static func allAreProcessed(_ list: Range<Int>, _ bytes: Span<UInt8>) throws(DERFault) -> Bool {
        var reader = DERReader(try DERReader.only(.sequence, in: list, bytes))
        var areProcessed = true
        while !reader.isAtEnd {
            let isProcessed = try isProcessed(reader.next(.sequence, bytes), bytes)
            areProcessed = areProcessed && isProcessed
        }
        return areProcessed
    }

    /// The content of the signed part's [3]; nil where none is left.
    static func find(_ fields: inout DERReader, _ bytes: Span<UInt8>) throws(DERFault) -> Range<Int>? {
        while !fields.isAtEnd {
            let field = try fields.next(bytes)
            if field.tag == .explicit(3) { return field.content }
        }
        return nil
    }

    /// Whether a judged list has an extension with this identifier.
    static func have(_ identifier: [UInt8], _ list: Range<Int>, _ bytes: Span<UInt8>) -> Bool {
        guard let content = try? DERReader.only(.sequence, in: list, bytes) else { return false }
        var reader = DERReader(content)
        while let member = try? reader.next(.sequence, bytes) {
            var fields = DERReader(member)
            guard let found = try? fields.next(.objectIdentifier, bytes) else { return false }
            if bytes.holds(identifier, in: found) { return true }
        }
        return false
    }

    /// - Returns: false for a critical extension that is not processed here.
    private static func isProcessed(_ content: Range<Int>, _ bytes: Span<UInt8>) throws(DERFault) -> Bool {
        var fields = DERReader(content)
        let identifier = try fields.next(.objectIdentifier, bytes)
        let isCritical = try fields.defaultFalse(bytes)
        let value = try fields.next(.octetString, bytes)
        try fields.expectEnd()
        if bytes.holds(ObjectIdentifier.basicConstraints, in: identifier) {
            var constraints = DERReader(try DERReader.only(.sequence, in: value, bytes))
            _ = try constraints.defaultFalse(bytes)
            if !constraints.isAtEnd { _ = try constraints.integer(bytes) }
            try constraints.expectEnd()
            return true
        }
        return !isCritical || bytes.holds(ObjectIdentifier.keyUsage, in: identifier)
    }
}
