internal import AppAttest

/// The text of others, made fit for a terminal: nothing in it hides, moves the cursor or turns the line around.
extension String {
    /// One line, as errors are: line breaks and runs of them become one space.
    package var oneLine: String { split(whereSeparator: \.isNewline).joined(separator: " ").printable }

    /// The text with each invisible scalar written by its number: `[U+202E]`.
    package var printable: String { showing { _ in false } }

    /// The same of a text of several lines.
    package var printableLines: String { showing { $0 == "\n" } }

    private func showing(_ isKept: (Unicode.Scalar) -> Bool) -> String {
        // Most texts are plain.
        if utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return self }
        return unicodeScalars.map { $0.isVisible || isKept($0) ? String($0) : $0.shownCode }.joined()
    }
}

extension Unicode.Scalar {
    /// Controls, signs of direction (format characters), line separators, foreign spaces and unassigned code points
    /// are not.
    package var isVisible: Bool {
        if (0x20...0x7E).contains(value) { return true }
        switch properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: return false
        case .spaceSeparator: return self == " "
        default: return true
        }
    }

    /// The text in the place of an invisible scalar.
    package var shownCode: String { "[U+\(hex(value))]" }

    fileprivate var jsonEscape: String { utf16.map { "\\u" + hex(UInt32($0)) }.joined() }

    private func hex(_ number: UInt32) -> String {
        Counted.padded(String(number, radix: 16, uppercase: true), 4)
    }
}

/// JSON that may go to a terminal: the same values, with what is invisible in a string escaped.
package enum VisibleJSON {
    package static func of(_ json: [UInt8]) -> [UInt8] {
        if json.allSatisfy({ $0 < 0x7F }) { return json }
        var result: [UInt8] = []
        result.reserveCapacity(json.count + 64)
        // Beyond ASCII, JSON has only strings; below a space, only what lies between its values.
        for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
            let isPlain = scalar.value < 0x7F || scalar.isVisible
            if isPlain { result += scalar.utf8 } else { result += scalar.jsonEscape.utf8 }
        }
        return result
    }
}

extension Int {
    /// The number with commas between groups of three digits.
    package var grouped: String { Counted.grouped(self) }

    /// `1 record`, `2 records`.
    package func counted(_ noun: String) -> String { Counted.text(self, noun) }

    /// `1 record was`, `2 records were`.
    package func counted(_ noun: String, _ one: String, _ many: String) -> String {
        "\(counted(noun)) \(self == 1 ? one : many)"
    }
}
