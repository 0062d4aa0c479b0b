import KafkaPorts
import Testing

@testable import Member

/// Every state with every outcome of its call.
@Suite("Output writer: the table")
struct OutputWriterTableTests {
    /// The state after the call. `?` = only the broker knows the output's outcome. `!` = the fault ends the member.
    private static let transaction = """
        call    | done    | partly  | again    | abortable | refused   | fenced    | fatal     | other
        init    | ready   | -       | waiting  | none!     | none!     | none      | none!     | none!
        begin   | produce | -       | unopened?| unopened  | unopened! | unopened? | unopened? | unopened?
        produce | flush   | produce | failed   | failed    | failed!   | failed?   | failed?   | failed
        flush   | offsets | flush   | failed   | failed    | failed!   | failed?   | failed?   | failed
        offsets | end     | -       | offsets  | failed    | failed!   | failed?   | failed?   | failed?
        end     | written | -       | end      | failed?   | failed?!  | failed?   | failed?   | failed?
        abort   | ready   | -       | aborting | none?     | none?     | none?     | none?     | none?
        """

    /// Every abort ends unknown.
    private static let atLeastOnce = """
        call        | done        | partly  | again  | abortable | refused | fenced | fatal  | other
        produce     | flush       | produce | failed | failed!   | failed! | failed | failed | failed!
        flush       | ledger      | flush   | failed | failed!   | failed! | failed | failed | failed!
        ledger      | flushLedger | ledger  | failed | failed!   | failed! | failed | failed | failed!
        flushLedger | ledger      | flushLedger | failed | failed! | failed! | failed | failed | failed!
        """

    private static func cells(_ text: String) -> [(row: String, cells: [(CallOutcome, String)])] {
        let table = StateTable(text)
        let columns = table.states.compactMap(CallOutcome.init)
        #expect(columns == CallOutcome.allCases)
        return table.rows.map { ($0.event, Array(zip(columns, $0.cells))) }
    }

    /// A writer in the state in which it makes the call.
    private func bench(before row: String, _ delivery: Delivery) throws -> WriterBench {
        let bench = WriterBench(delivery)
        if row == "init" {
            bench.writer.accept(.takeOver([:]), at: bench.now)
            _ = bench.step()
            return bench
        }
        bench.run(.takeOver([:]))
        if row == "abort" {
            bench.producer.script[.offsets] = [.abortable]
            bench.run(.write(bench.batch()))
            bench.writer.accept(.abort, at: bench.now)
            return bench
        }
        bench.writer.accept(.write(bench.batch { $0.records.append(.mark(0)) }), at: bench.now)
        let start = row == "begin" ? "ready" : row
        while bench.writer.state.inTable != start { try #require(bench.step() == nil) }
        return bench
    }

    private func check(_ table: String, _ delivery: Delivery) throws {
        var (count, rows) = (0, Set<String>())
        for (row, cells) in Self.cells(table) {
            rows.insert(row)
            for (outcome, cell) in cells where cell != "-" {
                let bench = try bench(before: row, delivery)
                let call = try #require(PortCall(rawValue: row) ?? (row.hasPrefix("flush") ? .flush : .produce))
                bench.producer.script[call] = [outcome]
                let end = bench.step()
                var found = bench.writer.state.inTable
                if end?.isUnknown == true { found += "?" }
                if let fault = end?.fault {
                    if fault.isFatal { found += "!" }
                    #expect(fault.isFatal || fault.requiresAbort, "a member knows what to do")
                }
                #expect(found == cell, "\(row), \(outcome)")
                if found.hasPrefix("failed") || found.hasPrefix("unopened") {
                    let isUnknown = delivery == .atLeastOnce || found.contains("?") || bench.producer.fatalFault != nil
                    #expect(bench.run(.abort).isUnknown == isUnknown, "\(row), \(outcome)")
                }
                count += 1
            }
        }
        #expect(count == (delivery == .transaction ? 51 : 32))
    }

    @Test func `in a transaction`() throws { try check(Self.transaction, .transaction) }

    @Test func `at least once`() throws { try check(Self.atLeastOnce, .atLeastOnce) }
}

@Suite("Output writer: the drawing")
struct OutputWriterStateTests {
    /// From each state to those that may follow; a call of an open output stands for its state.
    private static let drawn = """
        none | takingOver ready closed
        takingOver | takingOver connecting ready none closed
        connecting | ready
        ready | ready produce flush ledger flushLedger forget flushForget offsets end failed settling none closed
        produce | flush written failed
        flush | offsets ledger written failed
        ledger | flushLedger written failed
        flushLedger | ledger forget written failed
        forget | flushForget written failed
        flushForget | written failed
        offsets | end written failed
        end | written failed
        written | ready none
        failed | ready settling aborting none closed
        settling | settling aborting ready none
        aborting | ready none
        closed |
        """

    private static let states: [OutputWriter.State] =
        [.none, .takingOver(nil), .connecting, .ready]
        + OutputWriter.Call.allCases.map(OutputWriter.State.open)
        + [
            .written, .failed(isOpen: true, isInDoubt: false), .settling(since: Moment(milliseconds: 0), idle: 0),
            .aborting(since: Moment(milliseconds: 0)), .closed,
        ]

    private static func name(_ state: OutputWriter.State) -> String {
        if case .open(let call) = state { return "\(call)" }
        return StateTable.name(state)
    }

    @Test func `the steps are those that are drawn`() {
        for (state, row) in zip(Self.states, Self.drawn.split(separator: "\n")) {
            let next = Self.states.filter { state.mayBecome($0) }.map(Self.name)
            let words = row.split { $0 == " " || $0 == "|" }.map(String.init)
            #expect(words.first == Self.name(state) && Set(words.dropFirst()) == Set(next), "\(row)")
        }
        #expect(Self.states.count == Self.drawn.split(separator: "\n").count)
    }
}

extension OutputWriter.State {
    fileprivate var inTable: String {
        switch self {
        case .none: "none"
        case .takingOver: "waiting"
        case .connecting: "connecting"
        case .ready: "ready"
        case .open(let call): "\(call)"
        case .written: "written"
        case .failed(let isOpen, let isInDoubt): (isOpen ? "failed" : "unopened") + (isInDoubt ? "?" : "")
        case .settling: "settling"
        case .aborting: "aborting"
        case .closed: "closed"
        }
    }
}
