internal import Settings
internal import Streams

/// 6: the devices with most refusals, a mark for each of their requests.
extension ReplayReport {
    private static let mostDevices = 20
    static let mostMarks = 300

    var who: [Report.Part] {
        let places = facts.population.devices.devices.indices.filter { facts.population.devices[$0].refused > 0 }
        guard !places.isEmpty else { return [.text("No device was refused.")] }
        let order = places.sorted { left, right in
            let (one, two) = (facts.population.devices[left], facts.population.devices[right])
            return (one.refused, -one.accepted, -left) > (two.refused, -two.accepted, -right)
        }
        let shown = Array(order.prefix(Self.mostDevices))
        let marks = facts.population.marks.marks(of: shown)
        var notes = [
            """
            \(places.count.counted("device")) had a request that was not accepted; here are the \(shown.count) with \
            most. A tall mark is a request that was not accepted, a short one an accepted one. The name is the event's \
            member device: 16 hex digits of SHA-256 of the installation ID, else of the key ID.
            """
        ]
        if facts.population.marks.isFull || facts.population.devices.recordsBeyond > 0 {
            notes.append("There were more requests than are kept: later ones have no mark here.")
        }
        if marks.values.contains(where: { $0.count > Self.mostMarks }) {
            notes.append("Of a device with more than \(Self.mostMarks) requests some have a mark, evenly chosen.")
        }
        var table = Report.Table(
            ["device", "refused", "accepted", "last refused"],
            shown.map { row(facts.population.devices[$0], marks[$0] ?? []) }
        )
        let times = marks.values.joined().map(\.time)
        if let first = times.min(), let last = times.max() {
            let kinds = outcomes.indices.map { (outcomes.kind($0).hue, outcomes.name($0)) }
            table.drawing = .marks(first...last, kinds: kinds)
        }
        return notes.map { .text($0) } + [.table(table)]
    }

    private func row(_ device: DeviceTable.Device, _ marks: [RefusalTimeline.Mark]) -> Report.Row {
        let (partition, offset) = device.lastRefused
        var row = Report.Row([
            .code(DeviceTable.text(of: device.label)), .count(device.refused), .count(device.accepted),
            .text(Self.text(RecordPlace(partition: partition, offset: offset))),
        ])
        row.drawn = .list(Self.thinned(marks).map { .list([.count($0.time), .count($0.outcome)]) })
        return row
    }

    /// Some of both kinds where there are more than fit, evenly chosen; a sixth is for accepted ones.
    static func thinned(_ marks: [RefusalTimeline.Mark]) -> [RefusalTimeline.Mark] {
        guard marks.count > mostMarks else { return marks }
        let refused = marks.filter { $0.outcome != OutcomeList.accepted }
        let accepted = marks.filter { $0.outcome == OutcomeList.accepted }
        let room = min(accepted.count, max(mostMarks / 6, mostMarks - refused.count))
        return some(accepted, room) + some(refused, mostMarks - room)
    }

    /// The marks, or so many of them, evenly chosen.
    private static func some(_ marks: [RefusalTimeline.Mark], _ most: Int) -> [RefusalTimeline.Mark] {
        guard marks.count > most else { return marks }
        return (0..<most).map { marks[$0 * marks.count / most] }
    }
}
