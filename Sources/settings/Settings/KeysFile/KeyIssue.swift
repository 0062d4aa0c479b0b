internal import AppAttest
internal import JSON

/// A KEYS line's `issued`: {"notBefore", "serial"}, seconds since 1970 and the serial number of the leaf of the last accepted
/// attestation.
enum KeyIssue {
    private static let members: Set<String> = ["notBefore", "serial"]
    /// The times from 1950, where X.509's two-digit years begin, to the end of 9999.
    private static let seconds: ClosedRange<Int64> = -631_152_000...253_402_300_799

    static func decode(_ node: JSONNode) throws(KeysFile.Fault) -> IssueTime {
        try KeyLine.check(node, members, "issued")
        guard let notBefore = node["notBefore"]?.integer, seconds.contains(notBefore) else {
            throw KeysFile.Fault(reason: "issued: notBefore is not a time in seconds since 1970")
        }
        guard let serial = node["serial"]?.integer, serial >= 0 else {
            throw KeysFile.Fault(reason: "issued: serial is not an integer from 0 to \(Int64.max)")
        }
        return IssueTime(notBefore: EvaluationTime(milliseconds: notBefore * 1000), serial: serial)
    }

    static func encode(_ issued: IssueTime, into writer: inout JSONWriter) {
        writer.key("issued")
        writer.beginObject()
        writer.member("notBefore", issued.notBefore.milliseconds / 1000)
        writer.member("serial", issued.serial)
        writer.endObject()
    }
}
