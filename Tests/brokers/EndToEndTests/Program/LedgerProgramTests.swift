import BrokerKit
import Testing

/// The built program's keys, resets and orders on a real broker. One broker for all of them, beside that of
/// ``WorkProgramTests``.
@Suite(
    "The program's ledger on a real broker",
    .brokerTests,
    .cluster(isLong: true),
    .serialized
)
struct LedgerProgramTests {}
