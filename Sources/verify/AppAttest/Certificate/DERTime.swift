internal import Crypto

/// X.509 times (RFC 5280 section 4.1.2.5): UTC, to the second, in the two forms that DER allows.
enum DERTime {
    /// Reads the next element as `YYMMDDHHMMSSZ` (UTCTime, 1950 to 2049) or `YYYYMMDDHHMMSSZ` (GeneralizedTime).
    static func next(_ reader: inout DERReader, _ bytes: Span<UInt8>) throws(DERFault) -> EvaluationTime {
        let element = try reader.next(bytes)
        let (start, end) = (element.content.lowerBound, element.content.upperBound)
        let read: EvaluationTime?
        switch element.tag {
        case .utcTime where end - start == 13:
            let year = bytes.decimal(start, 2).map { $0 < 50 ? 2000 + $0 : 1900 + $0 }
            read = EvaluationTime(year: year, start + 2, step: 2, bytes)
        case .generalizedTime where end - start == 15:
            read = EvaluationTime(year: bytes.decimal(start, 4), start + 4, step: 2, bytes)
        default: read = nil
        }
        guard let time = read, bytes[end - 1] == UInt8(ascii: "Z") else {
            throw DERFault(offset: element.whole.lowerBound)
        }
        return time
    }
}

/// The span in which a certificate may be used; both ends belong to it.
struct Validity: Sendable, Equatable {
    let notBefore: EvaluationTime
    let notAfter: EvaluationTime

    func contains(_ time: EvaluationTime) -> Bool { notBefore <= time && time <= notAfter }
}

extension Validity {
    init(of certificate: CACertificate) {
        notBefore = EvaluationTime(milliseconds: certificate.notBefore)
        notAfter = EvaluationTime(milliseconds: certificate.notAfter)
    }

    /// The first and the last moment, for reports.
    var text: String { "\(RFC3339.text(notBefore)) to \(RFC3339.text(notAfter))" }
}
