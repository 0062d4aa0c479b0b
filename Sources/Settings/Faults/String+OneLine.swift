extension String {
    /// Errors are one line: line breaks and runs of spaces become one space, other control characters are dropped.
    package var oneLine: String {
        split(whereSeparator: \.isNewline).joined(separator: " ").printable
    }

    /// The part of a foreign text that is safe on a terminal: no control characters.
    package var printable: String {
        String(String.UnicodeScalarView(unicodeScalars.filter { $0.properties.generalCategory != .control }))
    }
}
