internal import Synchronization

/// Rings while the group waits for our answer: every call that waits for the broker then gives up as early as it does
/// when the worker is asked to stop.
final class GroupBell: Sendable {
    private let rings = Atomic<Bool>(false)
    private let lost = Atomic<Bool>(false)

    var isRinging: Bool {
        get { rings.load(ordering: .relaxed) }
        set { rings.store(newValue, ordering: .relaxed) }
    }

    /// Whether another worker may own the partitions already: nothing more of them is committed.
    var isLost: Bool {
        get { lost.load(ordering: .relaxed) }
        set { lost.store(newValue, ordering: .relaxed) }
    }

    /// The settings of a unit that hurries when the bell rings.
    func hurrying(_ settings: BrokerSettings) -> BrokerSettings {
        var settings = settings
        let isStopping = settings.isStopping
        settings.isStopping = { self.isRinging || isStopping() }
        return settings
    }
}
