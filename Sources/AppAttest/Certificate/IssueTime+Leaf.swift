extension IssueTime {
    init(of leaf: LeafCertificate, _ bytes: Span<UInt8>) {
        self.init(notBefore: leaf.validity.notBefore, serial: Self.number(leaf.serial, bytes))
    }

    /// A DER INTEGER's content as a number; a negative one is 0.
    private static func number(_ content: Range<Int>, _ bytes: Span<UInt8>) -> Int64 {
        guard bytes[content.lowerBound] < 0x80 else { return 0 }
        guard content.count <= 8 else { return .max }
        return content.reduce(0) { $0 << 8 | Int64(bytes[$1]) }
    }
}
