/// The frame of a report: one file that needs nothing else, no script, no font, no picture from elsewhere.
struct ReportPage {
    let title: String
    /// Below the title; may be empty.
    let lead: String
    private var sections: [(id: String, title: String, body: (inout Markup) -> Void)] = []

    init(title: String, lead: String) {
        self.title = title
        self.lead = lead
    }

    /// - Parameter title: may be a name from outside.
    mutating func add(_ id: String, _ title: String, _ body: @escaping (inout Markup) -> Void) {
        sections.append((id, ShownText.of(title), body))
    }

    /// Nothing may be loaded or run, whatever the page says.
    private static let policy = "default-src 'none'; style-src 'unsafe-inline'"

    var bytes: [UInt8] {
        var page = Markup()
        page.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n")
        page.empty("meta", ["http-equiv": "Content-Security-Policy", "content": Self.policy])
        page.empty("meta", ["name": "viewport", "content": "width=device-width,initial-scale=1"])
        page.empty("meta", ["name": "color-scheme", "content": "light dark"])
        page.element("title", title)
        page.raw("\n<style>\n\(ReportStyle.css)\n</style>\n</head>\n<body>\n<main>\n")
        page.element("h1", title)
        if !lead.isEmpty { page.element("p", ["class": "lead"], lead) }
        page.element("nav") { nav in
            for section in sections { nav.element("a", ["href": "#" + section.id], section.title) }
        }
        for section in sections {
            page.raw("\n")
            page.element("section", ["id": section.id]) { part in
                part.element("h2", section.title)
                section.body(&part)
            }
        }
        page.raw("\n</main>\n</body>\n</html>\n")
        return page.bytes
    }
}

/// A kind of mark: its colour, and its name in the legend.
enum MarkKind: String, CaseIterable {
    case accepted = "ok"
    case refused = "no"
    case deferred = "later"
    case deadLetter = "dead"

    var name: String {
        switch self {
        case .accepted: "accepted"
        case .refused: "refused"
        case .deferred: "deferred"
        case .deadLetter: "dead letter"
        }
    }
}

extension Markup {
    mutating func card(_ body: (inout Markup) -> Void) { element("div", ["class": "card"], body) }

    /// A chart with its name on the left and its figure on the right; above it where the screen is narrow.
    mutating func line(
        _ name: (inout Markup) -> Void,
        _ figure: (inout Markup) -> Void,
        chart: (inout Markup) -> Void
    ) {
        element("div", ["class": "line"]) { line in
            line.element("div", [:], name)
            line.element("div", ["class": "r"], figure)
            line.element("div", ["class": "chart"], chart)
        }
    }

    mutating func note(_ text: String) { element("p", text) }

    /// A table that scrolls by itself where the screen is narrow.
    mutating func table(
        _ columns: [String],
        class name: String = "",
        leftAligned: Set<Int> = [],
        _ rows: (inout Markup) -> Void
    ) {
        element("div", ["class": "table"]) { box in
            box.element("table", name.isEmpty ? [:] : ["class": name]) { table in
                if columns.contains(where: { !$0.isEmpty }) {
                    table.element("thead") { Self.row(columns, leftAligned, &$0) }
                }
                table.element("tbody", [:], rows)
            }
        }
    }

    private static func row(_ columns: [String], _ leftAligned: Set<Int>, _ head: inout Markup) {
        head.element("tr") { row in
            for (index, column) in columns.enumerated() {
                row.element("th", leftAligned.contains(index) ? ["class": "l"] : [:], column)
            }
        }
    }

    mutating func legend(_ entries: [(kind: MarkKind, text: String)]) {
        element("ul", ["class": "key"]) { list in
            for entry in entries {
                list.element("li") { item in
                    item.element("i", ["class": "b-" + entry.kind.rawValue])
                    item.text(entry.text)
                }
            }
        }
    }

    /// A figure that stands for itself.
    static func tile(_ name: String, _ value: String, _ note: String, _ kind: String, _ page: inout Markup) {
        page.element("div", ["class": "tile " + kind]) { tile in
            tile.element("span", name)
            tile.element("b", value)
            if !note.isEmpty { tile.element("span", note) }
        }
    }
}
