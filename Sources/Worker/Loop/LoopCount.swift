internal import Settings

/// How many loops a process runs.
///
/// A loop's own part of a record is small beside the lanes', so one feeds about eight cores. A machine with fewer has
/// one, and keeps its instance's name as it is.
enum LoopCount {
    static let coresPerLoop = 8

    /// - Parameter configured: 0 = by the cores.
    static func of(_ configured: Int, cores: Int) -> Int {
        configured > 0 ? configured : max(1, cores / coresPerLoop)
    }
}

extension Configuration {
    /// The number of loops on this machine.
    var loopCount: Int { LoopCount.of(loops, cores: UsableCores.count) }
}
