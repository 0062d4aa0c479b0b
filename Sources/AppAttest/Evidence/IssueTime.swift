/// When a leaf was issued: orders a key's attestations.
///
/// Apple backdates every leaf by the same day and numbers it by the millisecond of its issue.
package struct IssueTime: Hashable, Comparable, Sendable {
    package let notBefore: EvaluationTime
    /// The serial number; numbers beyond 63 bits, far above Apple's, count as equal.
    package let serial: Int64

    package init(notBefore: EvaluationTime, serial: Int64) {
        self.notBefore = notBefore
        self.serial = serial
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.notBefore, left.serial) < (right.notBefore, right.serial)
    }
}

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
