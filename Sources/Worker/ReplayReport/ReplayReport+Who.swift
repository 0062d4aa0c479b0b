internal import Log
internal import Settings

/// 5: the devices with most refusals, a mark for each of their requests.
extension ReplayReport {
    private static let mostDevices = 20
    static let mostMarks = 300

    func who(_ page: inout Markup) {
        let places = facts.devices.devices.indices.filter { facts.devices[$0].refused > 0 }
        guard !places.isEmpty else { return page.note("No device was refused.") }
        let order = places.sorted { left, right in
            let (one, two) = (facts.devices[left], facts.devices[right])
            return (one.refused, -one.accepted, -left) > (two.refused, -two.accepted, -right)
        }
        let shown = Array(order.prefix(Self.mostDevices))
        let marks = facts.marks.marks(of: shown)
        let times = marks.values.joined().map(\.time)
        page.note(
            "\(Figure.count(places.count, "device")) had a request that was not accepted; here are the \(shown.count) "
                + "with most. A tall mark is a request that was not accepted, a short one an accepted one. The name is "
                + "the event's member device: 16 hex digits of SHA-256 of the installation ID, else of the key ID."
        )
        if facts.marks.isFull || facts.devices.recordsBeyond > 0 {
            page.note("There were more requests than are kept: later ones have no mark here.")
        }
        if marks.values.contains(where: { $0.count > Self.mostMarks }) {
            page.note("Of a device with more than \(Self.mostMarks) requests some have a mark, evenly chosen.")
        }
        page.card { card in
            for place in shown { strip(place, marks[place] ?? [], times.min() ?? 0, times.max() ?? 0, &card) }
            guard let first = times.min(), let last = times.max() else { return }
            card.line { _ in
            } _: { _ in
            } chart: {
                Self.axis(first, last, &$0)
            }
        }
    }

    private static func axis(_ first: Int64, _ last: Int64, _ card: inout Markup) {
        card.element("div", ["class": "axis"]) { axis in
            let precision = UTCText.precision(max(1, (last - first) / 100))
            axis.element("span", UTCText.of(first, precision))
            axis.element("span", UTCText.of(last, precision))
        }
    }

    private func strip(
        _ place: Int,
        _ marks: [MarkLog.Mark],
        _ first: Int64,
        _ last: Int64,
        _ card: inout Markup
    ) {
        let device = facts.devices[place]
        let name = DeviceTable.text(of: device.label)
        let (partition, offset) = device.lastRefused
        card.line { left in
            left.element("code", name)
            let refused = Self.text(RecordPlace(partition: partition, offset: offset))
            left.element("div", ["class": "soft small"], "last refused: \(refused)")
        } _: { right in
            right.text("\(device.refused.grouped) refused")
            right.element("div", ["class": "soft"], "\(device.accepted.grouped) accepted")
        } chart: { chart in
            chart.element(
                "svg",
                [
                    "class": "strip", "viewBox": "0 0 1000 20", "preserveAspectRatio": "none", "role": "img",
                    "aria-label": "requests of device \(name)",
                ]
            ) { svg in
                svg.empty("rect", ["class": "f-line", "x": "0", "y": "19", "width": "1000", "height": "1"])
                for mark in Self.thinned(marks) { draw(mark, first, last, &svg) }
            }
        }
    }

    /// Of more marks than fit, some of both kinds, evenly chosen; a sixth is for accepted ones.
    static func thinned(_ marks: [MarkLog.Mark]) -> [MarkLog.Mark] {
        guard marks.count > mostMarks else { return marks }
        let refused = marks.filter { $0.outcome != OutcomeList.accepted }
        let accepted = marks.filter { $0.outcome == OutcomeList.accepted }
        let room = min(accepted.count, max(mostMarks / 6, mostMarks - refused.count))
        return some(accepted, room) + some(refused, mostMarks - room)
    }

    /// At most so many of them, evenly chosen.
    private static func some(_ marks: [MarkLog.Mark], _ most: Int) -> [MarkLog.Mark] {
        guard marks.count > most else { return marks }
        return (0..<most).map { marks[$0 * marks.count / most] }
    }

    private func draw(_ mark: MarkLog.Mark, _ first: Int64, _ last: Int64, _ svg: inout Markup) {
        let isAccepted = mark.outcome == OutcomeList.accepted
        let x = last > first ? Double(mark.time - first) / Double(last - first) * 996 : 498
        svg.element(
            "rect",
            [
                "class": "f-" + outcomes.kind(Int(mark.outcome)).rawValue, "x": Figure.point(x),
                "y": isAccepted ? "11" : "0", "width": "4", "height": isAccepted ? "8" : "19",
            ]
        ) { $0.element("title", "\(UTCText.of(mark.time, .millisecond)): \(outcomes.name(Int(mark.outcome)))") }
    }
}
