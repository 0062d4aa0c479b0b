/// Records by how far a figure lies from the bound that it is judged by.
struct NearMisses {
    /// The third is refused for another reason than this figure.
    enum Class: Int, CaseIterable { case accepted, refused, otherwise }

    /// The counts below the first bound, between each two, and from the last one on.
    let names: [String]
    private let bounds: [Int64]
    /// Records by class, then by row.
    private(set) var counts: [[Int]]

    /// - Parameter rows: each with the first value that does not belong to it any more; nil for the last.
    init(_ rows: [(name: String, below: Int64?)]) {
        names = rows.map(\.name)
        bounds = rows.compactMap(\.below)
        precondition(bounds == bounds.sorted() && bounds.count == rows.count - 1, "the last row alone has no bound")
        counts = Class.allCases.map { _ in [Int](repeating: 0, count: rows.count) }
    }

    mutating func add(_ value: Int64, _ kind: Class) {
        counts[kind.rawValue][bounds.firstIndex { value < $0 } ?? bounds.count] += 1
    }

    var total: Int { counts.reduce(0) { $0 + $1.reduce(0, +) } }

    /// Counter presented minus stored: accepted above 0.
    static var counters: NearMisses {
        NearMisses([
            ("−1,000 and less", -999), ("−999 to −100", -99), ("−99 to −10", -9), ("−9 to −1", 0),
            ("0 (the same again)", 1), ("+1", 2), ("+2 to +9", 10), ("+10 to +99", 100), ("+100 to +999", 1000),
            ("+1,000 and more", nil),
        ])
    }

    /// Age of a sealed challenge when it was judged: accepted below the time to live.
    ///
    /// - Parameter ttl: milliseconds.
    static func challengeAges(ttl: Int64) -> NearMisses {
        let shares: [(Int64, Int64)] = [(1, 20), (1, 5), (1, 2), (4, 5), (1, 1), (2, 1), (10, 1)]
        let bounds = shares.map { ttl / $0.1 * $0.0 }
        var rows: [(name: String, below: Int64?)] = [("issued later than used", 0)]
        var last: Int64 = 0
        for bound in bounds {
            let past = bound > ttl ? "expired: " : ""
            rows.append(("\(past)\(Figure.span(last)) to \(Figure.span(bound))", bound))
            last = bound
        }
        return NearMisses(rows + [("expired: \(Figure.span(last)) and more", nil)])
    }

    /// Evaluation time against a leaf's dates, in milliseconds: before its beginning negative, after its end as if
    /// ``afterEnd`` had been added.
    static var leafDates: NearMisses {
        let (minute, hour, day): (Int64, Int64, Int64) = (60_000, 3_600_000, 86_400_000)
        return NearMisses([
            ("more than a day too early", -day + 1), ("an hour to a day too early", -hour + 1),
            ("up to an hour too early", 0),
            ("valid, first minute", minute), ("valid, first hour", hour), ("valid, first day", day),
            ("valid, later", afterEnd), ("up to an hour too late", afterEnd + hour),
            ("an hour to a day too late", afterEnd + day), ("more than a day too late", nil),
        ])
    }

    /// More than any leaf's life: the year 9999 is nearer.
    static let afterEnd: Int64 = 1 << 50
}
