internal import Dispatch
internal import Foundation

/// Measures restores and ledgers. `memory` restores records from memory through the real loop and lanes. `fill` writes records
/// onto a broker's ledger topic, whose restore `attest-worker run` then reports. `ledger` measures memory, look-ups and records.
@main
struct RestoreBench {
    static func main() throws {
        let arguments = CommandLine.arguments
        switch arguments.dropFirst().first {
        case "memory" where arguments.count == 5:
            guard let keys = Int(arguments[2]), let partitions = Int32(arguments[3]), let lanes = Int(arguments[4])
            else {
                break
            }
            try MemoryRestore(keys: keys, partitions: partitions, lanes: lanes).run()
            return
        case "ledger" where arguments.count == 4:
            guard let keys = Int(arguments[2]), let partitions = Int(arguments[3]), keys > 0, partitions > 0 else {
                break
            }
            var measure = LedgerMeasure(keys: keys, partitions: partitions)
            return measure.run()
        case "fill" where arguments.count == 4:
            guard let keys = Int(arguments[3]) else { break }
            try TopicFill(directory: arguments[2]).write(keys)
            return
        default: break
        }
        print(
            "Usage: RestoreBench memory KEYS PARTITIONS LANES    or    RestoreBench ledger KEYS PARTITIONS\n"
                + "or    RestoreBench fill DIR KEYS"
        )
        exit(2)
    }
}
