/// Names of certificates' holders and issuers, for reports.
enum CommonName {
    /// The commonName of a Name by itself, for a sentence.
    static func shown(_ name: [UInt8]) -> String {
        read(0..<name.count, name.span).map { "'\($0)'" } ?? "an unnamed authority"
    }

    /// The commonName of a Name (RFC 5280 section 4.1.2.4), if it has one in a string type of ASCII or UTF-8.
    static func read(_ name: Range<Int>, _ bytes: Span<UInt8>) -> ExactText? {
        guard let content = try? DERReader.only(.sequence, in: name, bytes) else { return nil }
        var sets = DERReader(content)
        while !sets.isAtEnd, let set = try? sets.next(.set, bytes) {
            guard let pair = try? DERReader.only(.sequence, in: set, bytes) else { continue }
            var parts = DERReader(pair)
            guard let identifier = try? parts.next(.objectIdentifier, bytes), let value = try? parts.next(bytes),
                bytes.holds(ObjectIdentifier.commonName, in: identifier)
            else { continue }
            return bytes.text(value.content)
        }
        return nil
    }
}
