internal import Foundation

/// The tests that `Tests/flaky.txt` lists: they failed in the soak, and not each time.
struct FlakyList {
    struct Entry: Equatable {
        /// `Suite/claim`.
        let test: String
        let firstSeen: CalendarDay
        let owner: String
        let due: CalendarDay
    }

    static let most = 4
    static let days = 7

    let entries: [Entry]
    /// Lines that are no entries.
    private let malformed: [String]

    init(_ text: String) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        // What follows the last line's end. Without that end, the next line would be appended to it.
        let isEnded = lines.popLast()?.isEmpty ?? true
        lines.removeAll { $0.hasPrefix("#") }
        let read = lines.map { ($0, Self.entry($0)) }
        entries = read.compactMap(\.1)
        malformed =
            read.filter { $0.1 == nil }.map { "not Suite/claim, day, owner, day: '\($0.0)'" }
            + (isEnded ? [] : ["the last line has no end"])
    }

    private static func entry(_ line: Substring) -> Entry? {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
        guard fields.count == 4, fields.allSatisfy({ !$0.isEmpty && $0.first != " " && $0.last != " " }),
            let firstSeen = CalendarDay(fields[1]), let due = CalendarDay(fields[3]),
            fields[0].split(separator: "/", maxSplits: 1).count == 2
        else { return nil }
        return Entry(test: String(fields[0]), firstSeen: firstSeen, owner: String(fields[2]), due: due)
    }

    /// What the landing fails for.
    ///
    /// - Parameters:
    ///   - head: the day of the tree's commit; nil = the newest day on which a test was first seen.
    ///   - isKnown: whether there is such a test.
    func faults(head: CalendarDay?, isKnown: (String) -> Bool) -> [String] {
        var faults = malformed
        if entries.count > Self.most { faults.append("\(entries.count) lines, of \(Self.most) at most") }
        let day = head ?? entries.map(\.firstSeen).max()
        for (index, entry) in entries.enumerated() {
            if entries[..<index].contains(where: { $0.test == entry.test }) { faults.append("twice: \(entry.test)") }
            if !isKnown(entry.test) { faults.append("unknown: \(entry.test)") }
            if entry.due.number != entry.firstSeen.number + Self.days {
                faults.append("not due after \(Self.days) days: \(entry.test)")
            }
            if let day, day > entry.due { faults.append("overdue, of \(entry.owner): \(entry.test)") }
        }
        return faults
    }
}

/// A day of the calendar, counted from 1970-01-01.
struct CalendarDay: Comparable {
    let number: Int

    /// - Returns: nil unless the text is a day as `2026-11-25`.
    init?(_ text: Substring) {
        let style = Date.ISO8601FormatStyle().year().month().day()
        guard text.utf8.count == 10, let date = try? style.parse(String(text)), style.format(date) == text else {
            return nil
        }
        number = Int(date.timeIntervalSince1970 / 86_400)
    }

    static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}
