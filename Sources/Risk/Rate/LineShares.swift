/// Shares calls among the lines that have due visits, 3 : 1 : 1; what a line leaves, the others take.
package struct LineShares: Sendable {
    /// What a call costs a line, by its number: a third of the others' for the line with three shares.
    private static let costs: [3 of Int] = [1, 3, 3]

    /// What each line has paid so far.
    private var paid: [3 of Int] = [0, 0, 0]
    /// What the last payer had paid before it: a line that was idle starts here, without a claim on the past.
    private var level = 0

    package init() {}

    /// The line whose turn it is.
    ///
    /// - Parameter isDue: by the line's number.
    /// - Returns: nil while no line has a due visit.
    package func turn(_ isDue: [3 of Bool]) -> ReceiptLine? {
        var turn: Int?
        for line in isDue.indices where isDue[line] && turn.map({ account(line) < account($0) }) ?? true { turn = line }
        return turn.flatMap(ReceiptLine.init(rawValue:))
    }

    package mutating func take(_ line: ReceiptLine) {
        level = account(line.rawValue)
        paid[line.rawValue] = level + Self.costs[line.rawValue]
    }

    private func account(_ line: Int) -> Int { max(paid[line], level) }
}
