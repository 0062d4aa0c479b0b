internal import AppAttest

/// The outcomes of a device's attestations in a span of time: a success makes up for what was before or after it, and
/// any decision for being kept out.
struct DeviceState: OptionSet, Hashable {
    let rawValue: UInt8

    static let succeeded = DeviceState(rawValue: 1)
    static let failed = DeviceState(rawValue: 2)
    static let notAdmitted = DeviceState(rawValue: 4)

    var isFailure: Bool { contains(.failed) && !contains(.succeeded) }
    var isDecided: Bool { !isSubset(of: .notAdmitted) }
}

/// Devices by what became of them; each counts once.
struct DeviceCounts: Equatable {
    var succeeded = 0
    var failed = 0
    var notAdmitted = 0

    var decided: Int { succeeded + failed }

    mutating func add(_ state: DeviceState) {
        if state.isFailure { failed += 1 } else if state.isDecided { succeeded += 1 } else { notAdmitted += 1 }
    }
}

/// The attestations of one app, device by device and day by day: what the page of `rollout --report` shows.
struct RolloutFacts {
    static let dayMilliseconds: Int64 = 86_400_000
    /// Reasons and versions that are kept apart; the worker writes far fewer.
    private static let mostReasons = 256

    /// A device, or an event that names none and counts as one.
    private struct Name: Hashable {
        let device: UInt64
        let nameless: UInt32
    }

    private struct DayName: Hashable {
        let day: Int64
        let name: Name
    }

    private struct Device {
        var state: DeviceState = []
        /// The first of its failures in the alphabet, whatever their order.
        var reason: String?
        var values: [ValueTally.ID] = [ValueTally.unknown, ValueTally.unknown, ValueTally.unknown]
    }

    /// The order of ``Event/traits``.
    static let traits: [Dimension] = [.platform, .osVersion, .bundleVersion]

    private var devices: [Name: Device] = [:]
    private var days: [DayName: DeviceState] = [:]
    private(set) var failures: [String: Int] = [:]
    /// Highest share of each day, in parts of ``Rollout/whole``.
    private(set) var shares: [Int64: Int64] = [:]
    private var values = Self.traits.map { _ in ValueTable<ExactText>(outcomes: 1) }
    private var nameless: UInt32 = 0
    /// Successes and failures of assertions, which no gate concerns.
    private(set) var assertions = (succeeded: 0, failed: 0)

    mutating func add(_ event: Event) {
        guard event.isAttestation else {
            if event.kind == .success { assertions.succeeded += 1 }
            if event.kind == .failure { assertions.failed += 1 }
            return
        }
        if event.device == nil { nameless &+= 1 }
        let name = Name(device: event.device ?? 0, nameless: event.device == nil ? nameless : 0)
        let state: DeviceState =
            event.kind == .success ? .succeeded : event.kind == .failure ? .failed : .notAdmitted
        var device = devices[name] ?? Device()
        device.state.formUnion(state)
        if event.kind == .failure { note(event.reason ?? "unknown", &device) }
        for (index, text) in event.traits.enumerated() where text != nil {
            device.values[index] = values[index].id(of: text)
            values[index].count(device.values[index], 0)
        }
        devices[name] = device
        guard let at = event.at else { return }
        let day = at / Self.dayMilliseconds
        days[DayName(day: day, name: name), default: []].formUnion(state)
        if let parts = event.parts { shares[day] = max(shares[day] ?? 0, parts) }
    }

    private mutating func note(_ reason: String, _ device: inout Device) {
        let name = failures[reason] != nil || failures.count < Self.mostReasons ? reason : "other"
        failures[name, default: 0] += 1
        device.reason = min(device.reason ?? name, name)
    }

    // MARK: Counts

    var total: DeviceCounts {
        devices.values.reduce(into: DeviceCounts()) { $0.add($1.state) }
    }

    /// Devices that succeeded although they had failed.
    var recovered: Int { devices.values.count { $0.state.isSuperset(of: [.succeeded, .failed]) } }

    /// Devices that never succeeded, by reason.
    var failedDevices: [String: Int] {
        devices.values.reduce(into: [:]) { counts, device in
            if device.state.isFailure, let reason = device.reason { counts[reason, default: 0] += 1 }
        }
    }

    /// Decided devices, those with most failures first; nil for devices whose objects do not say it.
    ///
    /// - Parameter trait: an index into ``traits``.
    func rows(_ trait: Int, most: Int) -> (rows: [(text: ExactText?, counts: DeviceCounts)], rest: DeviceCounts) {
        let table = values[trait]
        var counts: [ValueTally.ID: DeviceCounts] = [:]
        for device in devices.values where device.state.isDecided {
            counts[table.tallies.present(device.values[trait]), default: DeviceCounts()].add(device.state)
        }
        var rest = counts.removeValue(forKey: ValueTally.other) ?? DeviceCounts()
        let order = counts.sorted { left, right in
            (left.value.failed, left.value.decided, right.key) > (right.value.failed, right.value.decided, left.key)
        }
        for (_, count) in order.dropFirst(most) {
            rest.succeeded += count.succeeded
            rest.failed += count.failed
        }
        let rows = order.prefix(most).map { id, count in (table.keys[Int(id)], count) }
        return (rows, rest)
    }

    /// Devices per column of days, each device once in a column.
    struct Columns {
        let axis: TimeAxis
        let counts: [DeviceCounts]
        /// Parts of ``Rollout/whole``; nil for a column without a gate.
        let shares: [Int64?]
    }

    private static let mostColumns: Int64 = 92

    /// - Returns: nil without an attestation that has a time.
    var columns: Columns? {
        let all = days.keys.lazy.map(\.day)
        guard let first = all.min(), let last = all.max() else { return nil }
        let widths: [Int64] = [1, 7, 28, 364, 3640, 36_400]
        let width = widths.first { (last - first) / $0 < Self.mostColumns } ?? 364_000
        let count = Int((last - first) / width) + 1
        var states: [DayName: DeviceState] = [:]
        for (key, state) in days {
            let column = DayName(day: first + (key.day - first) / width * width, name: key.name)
            states[column, default: []].formUnion(state)
        }
        var counts = [DeviceCounts](repeating: DeviceCounts(), count: count)
        for (key, state) in states { counts[Int((key.day - first) / width)].add(state) }
        var columns = [Int64?](repeating: nil, count: count)
        for (day, parts) in shares {
            let column = Int((day - first) / width)
            if columns.indices.contains(column) { columns[column] = max(columns[column] ?? 0, parts) }
        }
        let axis = TimeAxis(start: first * Self.dayMilliseconds, width: width * Self.dayMilliseconds, count: count)
        return Columns(axis: axis, counts: counts, shares: columns)
    }
}
