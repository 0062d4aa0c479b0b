internal import Pipeline

/// The text of a scrape, in one of two formats.
package struct Exposition {
    package enum Format: Sendable {
        /// Prometheus text 0.0.4.
        case text
        /// OpenMetrics 1.0.
        case openMetrics

        var contentType: String {
            switch self {
            case .text: "text/plain; version=0.0.4; charset=utf-8"
            case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
            }
        }
    }

    private let format: Format
    private var bytes: [UInt8] = []
    /// The families that were written, those without series too.
    private(set) var families: [MetricFamily] = []

    package init(_ format: Format) {
        self.format = format
        bytes.reserveCapacity(1 << 16)
    }

    /// Writes a family with its series; nothing where there are none.
    package mutating func write(_ family: MetricFamily, _ samples: [MetricSample]) {
        families.append(family)
        guard !samples.isEmpty else { return }
        // OpenMetrics names a counter's family without the suffix of its series.
        let title = format == .openMetrics ? family.base : family.name
        put("# HELP \(title) \(family.help)\n# TYPE \(title) \(family.kind.rawValue)\n")
        for sample in samples {
            precondition(sample.labels.count == family.labels.count, "a series has the labels of its family")
            write(sample, of: family)
        }
    }

    package consuming func finish() -> [UInt8] {
        if format == .openMetrics { put("# EOF\n") }
        return bytes
    }

    private mutating func write(_ sample: MetricSample, of family: MetricFamily) {
        switch sample.value {
        case .whole(let value): line(family, sample, value: String(value))
        case .real(let value): line(family, sample, value: Self.text(value))
        case .histogram(let histogram, let unit):
            var total = 0
            for (index, count) in histogram.counts.enumerated() {
                total += count
                let bound = index < histogram.bounds.count ? Self.text(Double(histogram.bounds[index]) * unit) : "+Inf"
                line(family, sample, suffix: "_bucket", bound: bound, value: String(total))
            }
            line(family, sample, suffix: "_sum", value: Self.text(Double(histogram.sum) * unit))
            line(family, sample, suffix: "_count", value: String(total))
        }
    }

    private mutating func line(
        _ family: MetricFamily,
        _ sample: MetricSample,
        suffix: String = "",
        bound: String? = nil,
        value: String
    ) {
        put(family.name)
        put(suffix)
        var isFirst = true
        for (name, value) in zip(family.labels + ["le"], sample.labels + [bound ?? ""]) where !value.isEmpty {
            put(isFirst ? "{" : ",")
            isFirst = false
            put(name)
            put("=\"")
            putEscaped(value)
            put("\"")
        }
        put(isFirst ? " " : "} ")
        put(value)
        put("\n")
    }

    private mutating func put(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// Writes a label's value: the two formats escape three characters of it.
    private mutating func putEscaped(_ value: String) {
        // Most values need no escape.
        guard value.utf8.contains(where: { $0 == 0x5C || $0 == 0x22 || $0 == 0x0A }) else { return put(value) }
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): put("\\\\")
            case UInt8(ascii: "\""): put("\\\"")
            case UInt8(ascii: "\n"): put("\\n")
            default: bytes.append(byte)
            }
        }
    }

    /// `1.0`, never `1`: OpenMetrics asks for it in bounds, and both formats then name the same series.
    static func text(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        // Rounded to nine decimals: a sum of milliseconds has three.
        let rounded = (value * 1e9).rounded() / 1e9
        return "\(abs(value) < 1e6 ? rounded : value)"
    }
}
