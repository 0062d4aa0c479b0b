extension Report {
    package struct Table {
        let columns: [String]
        let rows: [Row]
        /// Drawn behind the first column of each row.
        var drawing: Drawing?
        var legend: [Mark] = []
        /// A chart's numbers: closed until a reader opens it.
        var isFolded = false

        package init(_ columns: [String], _ rows: [Row]) { (self.columns, self.rows) = (columns, rows) }

        /// A table with a bar in each row, of a part for each hue.
        package init(_ columns: [String], _ rows: [Row], bars: [Hue], _ names: [String] = []) {
            self.init(columns, rows)
            (drawing, legend) = (.parts(bars), zip(bars, names).map { ($0, $1) })
        }

        /// Names and what they have.
        init(_ pairs: [(String, String)]) {
            self.init(["", ""], pairs.map { Row([.text($0.0), .foreign($0.1)]) })
        }

        var facts: Facts {
            [
                "columns": .list(columns.map { .text($0) }), "rows": .list(rows.map(\.facts)),
                "chart": drawing?.facts, "legend": Report.facts(legend),
            ]
        }
    }

    package struct Row {
        let cells: [Value]
        /// The title of the rows that follow.
        var isGroup = false
        /// Stands below the row, over the whole width.
        var command: String?
        var hue: Hue?
        var drawn: Facts?

        package init(_ cells: [Value]) { self.cells = cells }

        static func group(_ title: String) -> Row {
            var row = Row([.foreign(title)])
            row.isGroup = true
            return row
        }

        /// - Parameter values: what its chart shows.
        package init(_ cells: [Value], drawing values: [Double], _ hue: Hue? = nil) {
            (self.cells, self.hue) = (cells, hue)
            drawn = .figures(values)
        }

        fileprivate var facts: Facts {
            [
                "isGroup": isGroup ? .flag(true) : nil, "cells": .list(cells.map(\.facts)), "drawn": drawn,
                "hue": .filled(hue?.rawValue), "command": .filled(command),
            ]
        }
    }

    enum Drawing {
        /// Columns over time, each row with its own scale.
        case columns(TimeAxis)
        /// Marks in time; those of the first kind are short.
        case marks(ClosedRange<Int64>, kinds: [Mark])
        /// One bar of several parts, or in the row's hue; all rows have one scale.
        case parts([Hue])

        /// The class of its table.
        var name: String { if case .parts = self { "parts" } else { "strips" } }

        fileprivate var facts: Facts {
            switch self {
            case .columns(let axis): ["kind": .text("columns"), "axis": axis.facts]
            case .marks(let times, let kinds):
                [
                    "kind": .text("marks"), "from": .count(times.lowerBound), "to": .count(times.upperBound),
                    "kinds": Report.facts(kinds),
                ]
            case .parts(let hues): ["kind": .text("parts"), "hues": .list(hues.map { .text($0.rawValue) })]
            }
        }
    }

    package typealias Mark = (hue: Hue, name: String)

    static func facts(_ marks: [Mark]) -> Facts? {
        marks.isEmpty ? nil : .list(marks.map { ["name": .text($0.name), "hue": .text($0.hue.rawValue)] })
    }
}
