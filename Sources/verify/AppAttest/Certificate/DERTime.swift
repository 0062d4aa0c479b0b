internal import Crypto

/// X.509 times (RFC 5280 section 4.1.2.5): UTC, to the second, in the two forms that DER allows.
enum DERTime {
    /// Reads the next element as `YYMMDDHHMMSSZ` (UTCTime, 1950 to 2049) or `YYYYMMDDHHMMSSZ` (GeneralizedTime).
    static func next(_ reader: inout DERReader, _ bytes: Span<UInt8>) throws(DERFault) -> EvaluationTime {
        let element = try reader.next(bytes)
        let fault = DERFault(offset: element.whole.lowerBound)
        let text = element.content
        let year: Int
        let rest: Int
        switch element.tag {
        case .utcTime:
            guard text.count == 13, let short = number(text.lowerBound, 2, bytes) else { throw fault }
            year = short < 50 ? 2000 + short : 1900 + short
            rest = text.lowerBound + 2
        case .generalizedTime:
            guard text.count == 15, let long = number(text.lowerBound, 4, bytes) else { throw fault }
            year = long
            rest = text.lowerBound + 4
        default:
            throw fault
        }
        guard bytes[text.upperBound - 1] == UInt8(ascii: "Z"), let time = time(year: year, rest: rest, bytes) else {
            throw fault
        }
        return time
    }

    /// The time of `MMDDHHMMSS` at `rest` in `year`; nil for a day or hour that no calendar has.
    private static func time(year: Int, rest: Int, _ bytes: Span<UInt8>) -> EvaluationTime? {
        guard let month = number(rest, 2, bytes), (1...12).contains(month),
            let day = number(rest + 2, 2, bytes), day >= 1, day <= days(inMonth: month, of: year),
            let hour = number(rest + 4, 2, bytes), hour < 24,
            let minute = number(rest + 6, 2, bytes), minute < 60,
            let second = number(rest + 8, 2, bytes), second < 60
        else { return nil }
        let seconds = ((CivilTime.days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second
        return EvaluationTime(milliseconds: Int64(seconds) * 1000)
    }

    private static func number(_ start: Int, _ count: Int, _ bytes: Span<UInt8>) -> Int? {
        var value = 0
        for index in start..<(start + count) {
            let digit = bytes[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = value * 10 + Int(digit)
        }
        return value
    }

    private static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
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
