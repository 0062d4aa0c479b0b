/// A report as data: its tables are written from it, its charts drawn from it, and tools read it as JSON.
package struct Report {
    let title: String
    /// Stands below the title; may be empty.
    let lead: String
    private(set) var sections: [Section] = []
    /// The first members of the JSON, of this kind of report alone.
    package var own: [Facts.Member] = []

    package init(title: String, lead: String) { (self.title, self.lead) = (title, lead) }

    struct Section {
        let id: String
        let title: String
        let parts: [Part]
    }

    package enum Part {
        case heading(String)
        case text(String)
        /// A sentence that says most.
        case lead(String)
        case tiles([Tile])
        case table(Table)
        case chart(Chart)
        case reasons([Entry])
        /// Paper shows only the first ones.
        case records([Entry])
    }

    /// A report on events: a section for each app, then one about the page.
    init(
        _ title: String,
        lead: String,
        own: [Facts.Member],
        apps: [(label: String, parts: [Part])],
        about: String,
        _ facts: [(String, String)]
    ) {
        self.init(title: title, lead: lead)
        self.own = own
        for (index, app) in apps.enumerated() { add("app\(index)", app.label, app.parts) }
        add("about", "About this page", [.text(about), .table(Table(facts))])
    }

    package mutating func add(_ id: String, _ title: String, _ parts: [Part]) {
        sections.append(Section(id: id, title: ShownText.of(title), parts: parts))
    }

    /// Colours that colour-blind readers can tell apart (Okabe and Ito).
    package enum Hue: String, CaseIterable { case blue, orange, pink, grey, green }

    /// A figure that stands for itself.
    package struct Tile {
        let name: String
        let value: Value
        let note: String
        let hue: Hue?

        init(_ name: String, _ value: Value, _ note: String = "", _ hue: Hue? = nil) {
            (self.name, self.value, self.note, self.hue) = (name, value, note, hue)
        }

        /// A count that stands out unless it is 0.
        init(warning name: String, _ count: Int, _ note: String) {
            self.init(name, .count(count), note, count > 0 ? .orange : nil)
        }
    }

    package enum Value {
        case missing
        case text(String)
        /// A name that is typed as it stands: a reason, a device.
        case code(String)
        case count(Int)
        /// Shaded where it stands out from the average; nil = never.
        case share(Int, of: Int, average: Double?)
        case figure(Double, digits: Int)

        /// A text from outside, cut where it is long.
        static func foreign(_ text: String) -> Value { .text(ShownText.of(text)) }
    }

    /// A reason or a record with what is to be said of it.
    package struct Entry {
        let title: String
        let details: [String]
        /// A sentence that says most.
        var lead: String?
        var notes: [String] = []
        var pairs: [(name: String, text: String, expected: String?)] = []
        var command: String?
    }

    // MARK: JSON

    /// One object and a newline: the members of this kind of report, then what every report has.
    package var json: [UInt8] { Facts.object(own + members).json + [0x0A] }

    /// The facts that the page's script draws from: no chart needs the members of a kind.
    var facts: Facts { .object(members) }

    private var members: [Facts.Member] {
        let all = sections.map { section -> Facts in
            ["id": .text(section.id), "title": .text(section.title), "parts": .list(section.parts.map(\.facts))]
        }
        return [("title", .text(title)), ("lead", .text(lead)), ("sections", .list(all))]
    }
}

extension Report.Part {
    fileprivate var facts: Facts {
        switch self {
        case .heading(let text): ["heading": .text(text)]
        case .text(let text): ["text": .text(text)]
        case .lead(let text): ["lead": .text(text)]
        case .tiles(let tiles): ["tiles": .list(tiles.map(\.facts))]
        case .table(let table): ["table": table.facts]
        case .chart(let chart): ["chart": chart.facts]
        case .reasons(let entries): ["reasons": .list(entries.map(\.facts))]
        case .records(let entries): ["records": .list(entries.map(\.facts))]
        }
    }
}

extension Report.Tile {
    fileprivate var facts: Facts {
        ["name": .text(name), "value": value.facts, "note": .filled(note), "hue": .filled(hue?.rawValue)]
    }
}

extension Report.Value {
    var facts: Facts {
        switch self {
        case .missing: .null
        case .text(let text), .code(let text): .text(text)
        case .count(let count): .count(count)
        case .figure(let figure, let digits): .figure(figure, digits: digits)
        case .share(let part, let whole, let average):
            [
                "part": .count(part), "of": .count(whole),
                "lift": average.flatMap { RateShading(part, of: whole, average: $0) }.map {
                    .figure($0.times, digits: 3)
                },
            ]
        }
    }
}

extension Report.Entry {
    fileprivate var facts: Facts {
        let pairs = pairs.map { pair -> Facts in
            ["name": .text(pair.name), "text": .text(pair.text), "expected": .filled(pair.expected)]
        }
        return [
            "title": .text(title), "details": .list(details.map { .text($0) }), "lead": .filled(lead),
            "notes": .list(notes.map { .text($0) }), "pairs": .list(pairs), "command": .filled(command),
        ]
    }
}
