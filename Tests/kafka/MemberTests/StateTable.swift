import Testing

@testable import Member

/// A table of states and events as it is drawn: a line for each event, a column for each state. `·` = ignored, `✗` =
/// impossible, anything else is the next state.
struct StateTable {
    let states: [String]
    let rows: [(event: String, cells: [String])]

    init(_ text: String) {
        let lines = text.split(separator: "\n").map { line in
            line.split(separator: "|").map { String($0.trimmingPrefix { $0 == " " }) }
                .map { String($0.reversed().drop { $0 == " " }.reversed()) }
        }
        states = Array(lines[0].dropFirst())
        rows = lines.dropFirst().map { ($0[0], Array($0.dropFirst())) }
    }

    /// How a cell is drawn.
    static func drawn<State>(_ cell: Cell<State>, _ name: (State) -> String) -> String {
        switch cell {
        case .ignored: "·"
        case .impossible: "✗"
        case .becomes(let next): name(next)
        }
    }

    /// Compares a row with the cells of its event.
    func expectRow<State: SendableMetatype, Event>(
        _ row: Int,
        _ states: [State],
        _ events: [Event],
        _ cell: (State, Event) -> Cell<State>
    ) {
        let names = states.map { Self.name($0) }
        let event = Self.name(events[row])
        #expect(rows.count == events.count && self.states == names && rows[row].event == event)
        for (column, state) in states.enumerated() {
            let drawn = Self.drawn(cell(state, events[row]), Self.name)
            #expect(drawn == rows[row].cells[column], "\(event) in \(names[column])")
        }
    }

    /// A case's name, without its values.
    static func name(_ value: some Any) -> String {
        Mirror(reflecting: value).children.first?.label ?? "\(value)"
    }
}
