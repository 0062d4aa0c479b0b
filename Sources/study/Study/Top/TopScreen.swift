internal import CommandFrame
internal import Glibc
internal import Settings
package import Telemetry
internal import Threads

/// The screen of `top`: what is wrong first, then the instances, then what they do. Pure, so that tests look at it.
package struct TopScreen {
    /// A part of the screen. Where rows are few, the first parts keep theirs, and what is left out is counted.
    private struct Part {
        /// A line that stays as long as one behind it does.
        var header: String?
        var lines: [String]
        /// The lines that it has before a part behind it gets more than its own.
        var least: Int

        /// The rows that it takes: a blank line stands before a header.
        var rows: Int { lines.isEmpty ? 0 : lines.count + overhead }
        var leastRows: Int { min(lines.count, least) + (lines.isEmpty ? 0 : overhead) }
        var overhead: Int { header == nil ? 0 : 2 }
    }

    private let columns: Int

    /// - Parameters:
    ///   - rows: the most lines; nil = as many as there are.
    ///   - time: milliseconds since 1970.
    package static func lines(_ instances: [TopInstance], columns: Int, rows: Int?, at time: Int64) -> [String] {
        let screen = TopScreen(columns: columns)
        let parts = screen.parts(TopFigures(instances, at: time))
        let answering = instances.count { $0.now != nil }
        let count = "\(answering) of \(instances.count.counted("instance")) answering"
        let head = screen.cut("attest-worker top  \(TimeText.rfc3339(time).prefix(19))Z  \(count)")
        let shares = screen.shares(of: parts, in: (rows ?? .max) - 1)
        return [head] + zip(parts, shares).flatMap { screen.shown($0, rows: $1) }
    }

    /// The rows of each part: first what it needs at least, then the rest, both in the order of the parts.
    private func shares(of parts: [Part], in rows: Int) -> [Int] {
        var (left, given) = (max(0, rows), [Int](repeating: 0, count: parts.count))
        for wishes in [parts.map(\.leastRows), parts.map(\.rows)] {
            for (index, wish) in wishes.enumerated() {
                let more = max(0, min(wish - given[index], left))
                // A header alone says nothing.
                guard given[index] + more > parts[index].overhead else { continue }
                given[index] += more
                left -= more
            }
        }
        return given
    }

    private func shown(_ part: Part, rows: Int) -> [String] {
        let room = rows - part.overhead
        guard room > 0 else { return [] }
        let header = part.header.map { ["", $0] } ?? []
        guard part.lines.count > room else { return header + part.lines }
        let rest = part.lines.count - room + 1
        return header + part.lines.prefix(room - 1) + [cut("… \(rest.counted("line")) more")]
    }

    private func parts(_ figures: TopFigures) -> [Part] {
        [
            Part(lines: figures.troubles.flatMap(wrapped), least: 8), part(figures.workers, least: 4),
            part(figures.gateways, least: 3), part(figures.ledgers, least: 2), part(figures.requests, least: 4),
            part(figures.partitions, least: 2), part(figures.tokens, least: 2), part(figures.refreshers, least: 2),
            Part(lines: figures.lastFaults.map(cut), least: 1),
        ]
    }

    /// A sentence with its command, whole: the lines behind the first are indented.
    private func wrapped(_ sentence: String) -> [String] {
        TextWrap.lines(sentence.oneLine, width: max(20, columns - 2)).enumerated().map { number, line in
            cut((number == 0 ? "! " : "  ") + line)
        }
    }

    private func part(_ table: TopTable, least: Int) -> Part {
        let rows = [table.header] + table.rows
        var text = TextTable(table.header.indices.map { $0 < table.names ? .left : .right })
        // Names give way to figures, the widest first.
        var widths = table.header.indices.map { column in
            min(columns, rows.map { $0[column].printable.count }.max() ?? 0)
        }
        while widths.reduce(2 * (widths.count - 1), +) > columns,
            let widest = (0..<table.names).max(by: { widths[$0] < widths[$1] }), widths[widest] > 8
        {
            widths[widest] -= 1
        }
        for row in rows { text.add(zip(row, widths).map { Self.cut($0.printable, to: $1) }) }
        let lines = text.text.split(separator: "\n").map { cut(String($0)) }
        return Part(header: lines[0], lines: Array(lines.dropFirst()), least: least)
    }

    private func cut(_ line: String) -> String { Self.cut(line.printable, to: columns) }

    private static func cut(_ line: String, to width: Int) -> String {
        line.count <= width ? line : line.prefix(max(0, width - 1)) + "…"
    }
}

/// A terminal's other screen, drawn over and over. The lines of before come back when it is closed, from any thread.
package final class LiveScreen: Sendable {
    private static let enter = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
    private static let leave = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    private let isOpen = Locked<Bool>(false)
    private let write: @Sendable ([UInt8]) throws -> Void

    /// - Parameter write: to the terminal.
    package init(write: @escaping @Sendable ([UInt8]) throws -> Void = { try Descriptor.write($0, to: STDOUT_FILENO) })
    {
        self.write = write
    }

    /// - Throws: where the terminal is gone, as ``draw(_:)`` does.
    package func open() throws {
        isOpen.withLock { $0 = true }
        try put(Self.enter)
    }

    /// Draws lines from the top; nothing once the screen is closed.
    package func draw(_ lines: [String]) throws {
        // The end of each line, and what is below the last, are cleared: no flicker, nothing left of before.
        try put("\u{1B}[H" + lines.map { $0.printable + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J")
    }

    package func close() {
        isOpen.withLock { isOpen in
            if isOpen { try? write(Array(Self.leave.utf8)) }
            isOpen = false
        }
    }

    private func put(_ text: String) throws {
        try isOpen.withLock { isOpen in Result { if isOpen { try write(Array(text.utf8)) } } }.get()
    }
}
