/// Numbers in settings. librdkafka reads the digits at the front of a text and drops the rest: `10s` is 10, `64M` is 64,
/// `010` is 8 and 4294967306 is 10.
enum NumberText {
    /// Why a value is not what its writer means; nil where it is, or where the library judges it.
    static func complaint(about value: String, of row: PropertyTable.Row) -> String? {
        let isWhole = row.type == "integer"
        // Some numbers have words too, such as all for -1: other texts than numbers the library refuses by itself.
        guard isWhole || row.type == "float", let first = value.unicodeScalars.first,
            "0123456789+-. \t\n\u{B}\u{C}\r".unicodeScalars.contains(first)
        else { return nil }
        guard isWhole ? !isInteger(value) : !isDecimal(value) else { return nil }
        let range = row.range.isEmpty ? "" : " (\(row.range))"
        return "must be a \(isWhole ? "whole " : "")number\(range) and nothing else, not \"\(value)\""
    }

    /// Whether the value is a decimal integer, without zeros in front, which would make it octal.
    private static func isInteger(_ value: String) -> Bool {
        let digits = unsigned(value)
        return (digits.utf8.first != UInt8(ascii: "0") || digits.utf8.count == 1) && Int32(value) != nil
    }

    /// `.5` and `5.` are numbers to the library too.
    private static func isDecimal(_ value: String) -> Bool {
        unsigned(value).utf8.allSatisfy {
            $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
            && Double(value)?.isFinite == true
    }

    private static func unsigned(_ value: String) -> Substring {
        value.hasPrefix("-") || value.hasPrefix("+") ? value.dropFirst() : value[...]
    }
}
