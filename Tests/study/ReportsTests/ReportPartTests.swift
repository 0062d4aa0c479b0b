internal import AppCheck
internal import Pipeline
internal import Testing

@testable internal import AppAttest
@testable internal import Reports

@Suite("The parts of a report")
struct ReportPartTests {
    @Test(
        arguments: [
            // Wilson's formula with z = 1.959964, reckoned elsewhere.
            (0, 200, 0.0, 0.018845), (1, 10, 0.017876, 0.404150), (50, 100, 0.403832, 0.596168),
            (2, 300, 0.001831, 0.023978), (10, 10, 0.722467, 1.0),
        ]
    )
    func `Wilson's interval has the known values`(part: Int, whole: Int, low: Double, high: Double) throws {
        let interval = try #require(Wilson(part, of: whole))
        #expect(abs(interval.low - low) < 1e-5 && abs(interval.high - high) < 1e-5, "\(interval)")
    }

    @Test func `nothing decided has no interval`() {
        #expect(Wilson(0, of: 0) == nil && Wilson(2, of: 1) == nil && Wilson(-1, of: 5) == nil)
    }

    @Test(
        arguments: [
            (0, 10, "0 %"), (10, 10, "100 %"), (1, 3, "33.3 %"), (1, 1_000_000, "< 0.01 %"),
            (999_999, 1_000_000, "> 99.99 %"), (1, 200, "0.50 %"), (0, 0, "–"),
        ]
    )
    func `a share is none or all only where it is`(part: Int, whole: Int, expected: String) {
        #expect(Figure.share(part, of: whole).replacing("\u{202F}", with: " ") == expected)
    }

    @Test func `only what chance does not explain is shaded`() {
        func shade(_ part: Int, _ whole: Int) -> RateShading.Shade? {
            RateShading(part, of: whole, average: 0.1)?.shade
        }
        #expect(shade(50, 100) == .high3 && shade(25, 100) == .high2 && shade(18, 100) == .high1)
        #expect(shade(4, 10) == nil && shade(11, 100) == nil)
        #expect(shade(2, 200) == .low && shade(0, 10) == nil)
    }

    @Test func `frequent values stay whatever else senders make up, and all records are counted`() {
        var table = ValueTable<ExactText>(outcomes: 2, capacity: 10)
        for index in 0..<1000 {
            for text in ["often", "made up \(index)"] {
                let id = table.id(of: ExactText(text))
                table.count(id, text == "often" ? 1 : 0)
            }
        }
        table.count(table.id(of: nil), 0)
        let (rows, rest, restValues) = table.rows(most: 3)
        #expect(rows.count == 3 && rows[0].key == "often" && rows[0].counts == [0, 1000])
        let shown = rows.reduce(0) { $0 + $1.counts.reduce(0, +) }
        #expect(shown + rest.reduce(0, +) == 2001)
        #expect(restValues == 1001 - rows.count { $0.key != nil })
    }

    @Test func `times far away do not squeeze the others, and are counted`() throws {
        var times = TimeCounts(most: 50)
        for index in 0..<5000 { times.add(1_763_640_000_000 + Int64(index) * 1000, index.isMultiple(of: 5) ? 1 : 0) }
        times.add(0, 0)
        times.add(253_402_300_799_999, 1)
        let columns = try #require(times.columns(outcomes: 2))
        #expect(columns.outside == 2 && columns.axis.count <= 96)
        #expect(columns.counts[0].reduce(0, +) == 4000 && columns.counts[1].reduce(0, +) == 1000)
        #expect(columns.axis.width < 3_600_000_000)
        #expect(TimeCounts().columns(outcomes: 2) == nil)
    }

    @Test func `each record lies in the column of its time`() throws {
        var times = TimeCounts()
        for minute in 0..<90 { times.add(Int64(minute) * 60_000, 0) }
        let columns = try #require(times.columns(outcomes: 1))
        #expect(columns.axis.start == 0 && columns.axis.width == 60_000)
        #expect(columns.counts[0] == Array(repeating: 1, count: 90))
        times.add(90 * 60_000 + 59_999, 0)
        #expect(times.columns(outcomes: 1)?.counts[0].last == 1)
    }

    @Test func `an installation is one device with all its keys, and a key alone is one`() {
        var table = DeviceTable()
        func key(_ byte: UInt8) -> KeyID? { KeyID([UInt8](repeating: byte, count: 32).span) }
        let first = table.place(installation: "i", keyID: key(1))
        #expect(table.place(installation: "i", keyID: key(2)) == first)
        #expect(table.place(installation: nil, keyID: key(2)) == first)
        #expect(table.place(installation: nil, keyID: key(3)) != first)
        #expect(table.place(installation: nil, keyID: nil) == nil)
        #expect(table.devices.count == 2)
        // SHA-256 of "i-1", by sha256sum: what an event has.
        let place = table.place(installation: "i-1", keyID: nil) ?? 0
        #expect(Figure.device(table[place].label) == "f105b11df43d5d32")
    }

    @Test func `a full table counts what it leaves out`() {
        var table = DeviceTable(most: 2)
        for index in 0..<5 { _ = table.place(installation: ExactText("\(index)"), keyID: nil) }
        #expect(table.devices.count == 2 && table.recordsBeyond == 3)
        #expect(table.place(installation: "1", keyID: nil) == 1)
        var marks = RefusalTimeline(most: 2)
        for time in 0..<3 { marks.add(0, Int64(time), 1) }
        #expect(marks.isFull && marks.marks(of: [0])[0]?.map(\.time) == [0, 1])
    }

    @Test func `a figure lies in the row of its bounds`() {
        var nearMisses = NearMisses.counters
        for value: Int64 in [-1000, -999, -1, 0, 1, 2, 9, 10, 999, 1000] { nearMisses.add(value, .accepted) }
        #expect(nearMisses.counts[0] == [1, 1, 0, 1, 1, 1, 2, 1, 1, 1])
        var dates = NearMisses.leafDates
        for value in [-86_400_000, -1, 0, 60_000, NearMisses.afterEnd + 1, NearMisses.afterEnd + 86_400_000] {
            dates.add(value, .refused)
        }
        #expect(dates.counts[1] == [1, 0, 1, 1, 1, 0, 0, 1, 0, 1])
    }

    @Test func `each outcome has a number, and each number its outcome`() {
        let list = OutcomeList()
        #expect(list.count == ReasonEntry.all.count + 1 && list.count <= OutcomeList.most)
        for reason in Reason.allCases {
            let index = list.index(of: .refused(reason, reason.status(appID: nil)))
            #expect(index.map { list.name(Int($0)) } == reason.code)
            #expect(index.map { list.kind(Int($0)) } == (reason.isDeferral ? .deferred : .refused))
        }
        for letter in DeadLetterReason.allCases {
            let index = list.index(of: .deadLetter(letter))
            #expect(index.map { list.name(Int($0)) } == letter.rawValue)
            #expect(index.map { list.kind(Int($0)) } == .deadLetter)
            #expect(list.index(ofReason: letter.rawValue) == index)
        }
        #expect(list.index(of: .accepted) == 0 && list.name(0) == "accepted" && list.index(of: .applied) == nil)
        var set = ReasonSet()
        for isNew in [true, false] {
            for index in 0..<OutcomeList.Index(OutcomeList.most) {
                let wasNew = set.insert(index)
                #expect(wasNew == isNew)
            }
        }
    }
}
