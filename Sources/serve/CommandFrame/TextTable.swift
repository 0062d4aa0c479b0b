internal import Settings

/// Columns of text, each as wide as its widest cell; the last one is not padded.
package struct TextTable {
    package enum Alignment: Sendable { case left, right }

    private var rows: [[String]] = []
    private let alignments: [Alignment]

    /// - Parameter alignments: per column; columns beyond the list are left-aligned.
    package init(_ alignments: [Alignment] = []) { self.alignments = alignments }

    package mutating func add(_ cells: String...) { add(cells) }
    /// A cell is one line, also where its text is foreign.
    package mutating func add(_ cells: [String]) { rows.append(cells.map(\.printable)) }

    /// The rows without a final newline.
    package var text: String {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.count)
            }
        }
        return rows.map { line($0, widths) }.joined(separator: "\n")
    }

    private func line(_ row: [String], _ widths: [Int]) -> String {
        let cells = row.enumerated().map { column, cell in
            let padding = String(repeating: " ", count: widths[column] - cell.count)
            if column < alignments.count, alignments[column] == .right { return padding + cell }
            return column == row.count - 1 ? cell : cell + padding
        }
        return cells.joined(separator: "  ")
    }
}

/// Breaks text at spaces.
package enum TextWrap {
    /// - Returns: lines of at most `width` characters; a longer word has its own line.
    package static func lines(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines.isEmpty ? [""] : lines
    }
}
