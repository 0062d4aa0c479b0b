import BrokerKit
import ChaosKit
import Testing

/// The built program's starts, ends and loops on a real broker. One broker for all of them, beside that of
/// ``WorkProgramTests``.
@Suite(
    "The start and the end of the program on a real broker",
    .brokerTests,
    .cluster(.behindNetwork, isLong: true),
    .serialized
)
struct RunProgramTests {}
