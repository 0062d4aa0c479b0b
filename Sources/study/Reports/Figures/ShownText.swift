internal import Settings

/// Text of a record or a file, made fit for a reader: nothing in it hides, turns the line around or fills the page.
enum ShownText {
    /// Scalars; the rest is counted.
    static let mostScalars = 160
    /// More marks on one letter would be drawn over its neighbours.
    private static let mostMarks = 2

    /// All of a text that is to be copied: a path, a command.
    static func whole(_ text: String) -> String { of(text, most: .max) }

    static func of(_ text: String, most: Int = mostScalars) -> String {
        var (shown, count, marks) = (String.UnicodeScalarView(), 0, 0)
        for scalar in text.unicodeScalars {
            guard count < most else { return String(shown) + "… (\(text.utf8.count.counted("byte")))" }
            count += 1
            marks = isMark(scalar) ? marks + 1 : 0
            if scalar.isVisible || scalar == Figure.gap, marks <= mostMarks {
                shown.append(scalar)
            } else {
                shown += scalar.shownCode.unicodeScalars
            }
        }
        return String(shown)
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .spacingMark: true
        default: false
        }
    }
}
