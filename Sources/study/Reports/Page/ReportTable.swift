extension Report {
    package struct Table {
        let columns: [String]
        let rows: [Row]
        /// Drawn behind the first column of each row.
        var drawing: Drawing?
        var legend: [Mark] = []
        /// A chart's numbers: closed until a reader opens it.
        var isFolded = false

        /// - Parameter bars: a bar in each row has a part for each of these hues.
        package init(_ columns: [String], _ rows: [Row], bars: [Hue] = [], _ names: [String] = []) {
            (self.columns, self.rows, legend) = (columns, rows, zip(bars, names).map { ($0, $1) })
            if !bars.isEmpty { drawing = .parts(bars) }
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

        /// - Parameter values: what its chart shows.
        package init(_ cells: [Value], drawing values: [Double]? = nil, _ hue: Hue? = nil) {
            (self.cells, self.hue, drawn) = (cells, hue, values.map(Facts.figures))
        }

        static func group(_ title: String) -> Row {
            var row = Row([.foreign(title)])
            row.isGroup = true
            return row
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
