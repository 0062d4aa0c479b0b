internal import Settings

extension Report {
    /// The page: one file that loads nothing. Its tables are HTML; its script draws charts from ``facts``.
    package var html: [UInt8] {
        var page = Markup()
        let template = PageTemplate.parts
        page.raw(template[0])
        page.text(title)
        page.raw(template[1])
        page.element("h1", title)
        if !lead.isEmpty { page.element("p", ["class": "lead"], lead) }
        page.element("nav") { nav in
            for section in sections { nav.element("a", ["href": "#" + section.id], section.title) }
        }
        for (index, section) in sections.enumerated() {
            page.raw("\n")
            page.element("section", ["id": section.id]) { body in
                body.element("h2", section.title)
                section.write(index, into: &body)
            }
        }
        page.raw(template[2])
        page.data(facts.json)
        page.raw(template[3])
        return page.bytes
    }

    fileprivate static func write(_ legend: [Mark], into body: inout Markup) {
        guard !legend.isEmpty else { return }
        body.element("ul", ["class": "key"]) { list in
            for entry in legend {
                list.element("li") { item in
                    item.element("i", ["class": entry.hue.rawValue], "")
                    item.text(entry.name)
                }
            }
        }
    }
}

extension Report.Section {
    /// Charts that follow one another stand side by side where there is room.
    fileprivate func write(_ number: Int, into body: inout Markup) {
        var index = 0
        while index < parts.count {
            let end = parts[index...].firstIndex { !$0.isChart } ?? parts.count
            guard index < end else {
                parts[index].write("p-\(number)-\(index)", into: &body)
                index += 1
                continue
            }
            body.element("div", ["class": "charts"]) { row in
                for place in index..<end { parts[place].write("p-\(number)-\(place)", into: &row) }
            }
            index = end
        }
    }
}

extension Report.Part {
    fileprivate var isChart: Bool {
        if case .chart = self { true } else { false }
    }

    /// - Parameter id: by which the script finds what it draws in.
    fileprivate func write(_ id: String, into body: inout Markup) {
        switch self {
        case .heading(let text): body.element("h3", text)
        case .text(let text): body.element("p", text)
        case .lead(let text): body.element("p", ["class": "lead"], text)
        case .tiles(let tiles):
            body.element("div", ["class": "tiles"]) { grid in for tile in tiles { tile.write(into: &grid) } }
        case .table(let table): table.write(id, into: &body)
        case .chart(let chart): chart.write(id, into: &body)
        case .reasons(let entries):
            for entry in entries { body.element("div", ["class": "card entry"]) { entry.write(into: &$0) } }
        case .records(let entries):
            if entries.count > PageTemplate.paperRecords {
                let text = "Here are the first \(PageTemplate.paperRecords) of them: the page on a screen has all."
                body.element("p", ["class": "paper"], text)
            }
            body.element("ol", ["class": "card records"]) { list in
                for entry in entries { list.element("li", ["class": "entry"]) { entry.write(into: &$0) } }
            }
        }
    }
}

extension Report.Tile {
    fileprivate func write(into grid: inout Markup) {
        grid.element("div", ["class": hue.map { "tile \($0.rawValue)" } ?? "tile"]) { tile in
            tile.element("span", name)
            tile.element("b", value.shown)
            if !note.isEmpty { tile.element("span", note) }
        }
    }
}

extension Report.Entry {
    fileprivate func write(into entry: inout Markup) {
        entry.element("h3") { heading in
            heading.element("code", title)
            for detail in details { heading.element("span", detail) }
        }
        if let lead { entry.element("p", ["class": "lead"], lead) }
        for note in notes { entry.element("p", note) }
        if !pairs.isEmpty {
            entry.element("dl") { list in
                for pair in pairs {
                    list.element("dt") { $0.element("bdi", pair.name) }
                    list.element("dd") { value in
                        value.element("bdi", pair.text)
                        guard let expected = pair.expected else { return }
                        value.element("span", ["class": "soft"], " – expected: ")
                        value.element("bdi", expected)
                    }
                }
            }
        }
        if let command { entry.element("code", ["class": "command"], command) }
    }
}

// MARK: - Tables and charts

extension Report.Value {
    fileprivate var isText: Bool {
        switch self {
        case .text, .code: true
        case .missing, .count, .share, .figure: false
        }
    }

    fileprivate var shown: String {
        switch self {
        case .missing: "–"
        case .text(let text), .code(let text): text
        case .count(let count): count.grouped
        case .share(let part, let whole, _): Figure.share(part, of: whole)
        case .figure(let figure, let digits): Figure.fixed(figure, digits)
        }
    }

    fileprivate func write(into row: inout Markup) {
        switch self {
        case .text(let text): row.element("td", ["class": "l"]) { $0.element("bdi", text) }
        case .code(let text): row.element("td", ["class": "l"]) { $0.element("code", text) }
        case .missing, .count(0): row.element("td", ["class": "soft"], shown)
        case .count, .figure: row.element("td", shown)
        case .share(let part, let whole, let average):
            let shading = average.flatMap { RateShading(part, of: whole, average: $0) }
            let names = [shading?.shade.rawValue, part == 0 ? "soft" : nil].compactMap(\.self)
            row.element("td", ["class": names.joined(separator: " ")]) { cell in
                cell.text(shown)
                if let shading, part > 0 { cell.element("span", ["class": "lift"], Figure.lift(shading.times)) }
            }
        }
    }
}

extension Report.Table {
    fileprivate func write(_ id: String, into body: inout Markup) {
        guard isFolded else { return body.element("div", ["class": "card"]) { write(table: id, into: &$0) } }
        body.element("details", ["class": "card"]) { details in
            details.element("summary", "As a table")
            write(table: id, into: &details)
        }
    }

    private func write(table id: String, into card: inout Markup) {
        Report.write(legend, into: &card)
        card.element("div", ["class": "table"]) { box in
            box.element("table", ["id": id, "class": drawing?.name ?? ""]) { table in
                if columns.contains(where: { !$0.isEmpty }) || drawing != nil { table.element("thead") { head(&$0) } }
                table.element("tbody") { rows in for row in self.rows { write(row, into: &rows) } }
            }
        }
    }

    private func head(_ head: inout Markup) {
        head.element("tr") { line in
            for (index, column) in columns.enumerated() {
                let isText = rows.contains { $0.cells.indices.contains(index) && $0.cells[index].isText }
                line.element("th", ["class": isText && index > 0 ? "l" : ""], column)
                if index == 0, drawing != nil { line.element("th", ["class": "drawn"], "") }
            }
        }
    }

    private func write(_ row: Report.Row, into body: inout Markup) {
        let width = String(columns.count + (drawing == nil ? 0 : 1))
        body.element("tr", ["class": row.isGroup ? "g" : ""]) { line in
            guard !row.isGroup else {
                return line.element("td", ["colspan": width]) { cell in
                    for value in row.cells { cell.element("bdi", value.shown) }
                }
            }
            for (index, value) in row.cells.enumerated() {
                value.write(into: &line)
                if index == 0, drawing != nil { line.element("td", ["class": "drawn"], "") }
            }
        }
        guard let command = row.command else { return }
        body.element("tr", ["class": "more"]) { line in
            line.element("td", ["colspan": width]) { $0.element("code", command) }
        }
    }
}

extension Report.Chart {
    fileprivate func write(_ id: String, into body: inout Markup) {
        body.element("figure", ["id": id, "class": isWide ? "card wide" : "card"]) { figure in
            figure.element("figcaption") { caption in
                caption.element("b", title)
                if !note.isEmpty { caption.element("span", note) }
            }
            Report.write(legend, into: &figure)
        }
    }
}
