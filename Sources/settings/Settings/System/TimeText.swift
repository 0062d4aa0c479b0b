internal import AppAttest

/// Times as the command line reads and prints them.
package enum TimeText {
    /// RFC 3339 with any offset and up to nine fraction digits (cut to milliseconds), or milliseconds since 1970.
    ///
    /// - Returns: nil for anything else, and for times outside the years 1970 to 9999.
    package static func milliseconds(_ text: String) -> Int64? {
        let time = Int64(text) ?? RFC3339.time(Array(text.utf8))?.milliseconds
        return time.flatMap { EvaluationTime.writable.contains($0) ? $0 : nil }
    }

    /// RFC 3339 in UTC with milliseconds: `2026-11-20T12:00:00.000Z`.
    package static func rfc3339(_ milliseconds: Int64) -> String {
        CivilTime(EvaluationTime(milliseconds: milliseconds)).text(withMilliseconds: true)
    }
}
