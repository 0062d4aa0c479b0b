import BrokerKit
import Testing

/// The built program's starts, ends and loops on a real broker. One broker for all of them, beside that of
/// ``EndToEndTests``.
@Suite(
    "The start and the end of the program on a real broker",
    .brokerTests,
    .cluster(.behindNetwork, isLong: true),
    .serialized,
    .timeLimit(.minutes(20))
)
struct RunProgramTests {}
