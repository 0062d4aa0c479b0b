/// Properties that librdkafka puts into its default of `sasl.kerberos.kinit.cmd`, which a shell runs with the worker's
/// rights: keytab and principal, no other.
enum KinitWords {
    /// Why a value, filled in, may not stand there; nil where the shell takes it as part of one word.
    static func advice(on name: String, _ value: String) -> String? {
        switch name {
        case "sasl.kerberos.keytab":
            // In double quotes.
            guard value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || isSpecialInQuotes($0) }) else { return nil }
            return
                "a shell runs kinit with it, so none of \" $ ` \\ and no control character may stand in it; rename the file"
        case "sasl.kerberos.principal":
            guard value.utf8.first == UInt8(ascii: "-") || !value.utf8.allSatisfy(isPlain) else { return nil }
            return
                "a shell runs kinit with it, so it may have letters, digits and . _ - / @ : + = , alone, and no - in front"
        default: return nil
        }
    }

    private static func isSpecialInQuotes(_ byte: UInt8) -> Bool { "\"$`\\".utf8.contains(byte) }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "._-/@:+=,".utf8.contains(byte)
        }
    }
}
