/// What a record or a file says, fit for a reader: nothing in it hides, turns the line around or fills the page.
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
            guard count < most else { return String(shown) + "… (\(text.utf8.count.grouped) bytes)" }
            count += 1
            marks = isMark(scalar) ? marks + 1 : 0
            if isVisible(scalar), marks <= mostMarks {
                shown.append(scalar)
            } else {
                shown += code(scalar).unicodeScalars
            }
        }
        return String(shown)
    }

    private static func code(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "[U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "]"
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .spacingMark: true
        default: false
        }
    }

    /// Controls, signs of direction (format characters), foreign spaces and unassigned code points are not.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        case .spaceSeparator: scalar == " "
        default: true
        }
    }
}
