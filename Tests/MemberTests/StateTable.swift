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

    /// A case's name, without its values.
    static func name(_ value: some Any) -> String {
        Mirror(reflecting: value).children.first?.label ?? "\(value)"
    }
}
