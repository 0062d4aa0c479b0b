package import Pipeline

/// A family of time series: declared once, written in both formats.
package struct MetricFamily: Sendable {
    package enum Kind: String, Sendable { case counter, gauge, histogram }

    /// The name without `_total`.
    let base: String
    package let kind: Kind
    /// The page's and the scrape's sentence.
    package let help: String
    package let labels: [String]

    static func counter(_ base: String, _ labels: [String] = [], _ help: String) -> MetricFamily {
        MetricFamily(base: base, kind: .counter, help: help, labels: labels)
    }

    static func gauge(_ base: String, _ labels: [String] = [], _ help: String) -> MetricFamily {
        MetricFamily(base: base, kind: .gauge, help: help, labels: labels)
    }

    static func histogram(_ base: String, _ help: String) -> MetricFamily {
        MetricFamily(base: base, kind: .histogram, help: help, labels: [])
    }

    /// The name as queries write it.
    package var name: String { kind == .counter ? base + "_total" : base }

    /// Its line on the Metrics page.
    package var row: String {
        let labels = labels.map { "`\($0)`" }.joined(separator: ", ")
        return "| `\(name)` | \(kind.rawValue) | \(labels.isEmpty ? "" : labels + " ")| \(help) |"
    }
}

/// One series of a family.
package struct MetricSample {
    package enum Value {
        case whole(Int64)
        case real(Double)
        /// A histogram with the size of a unit of its bounds and its sum: 0.001 where they are milliseconds and the
        /// family's seconds.
        case histogram(Histogram, unit: Double)
    }

    /// The values in the order of the family's labels; an empty one is left out.
    let labels: [String]
    let value: Value

    package init(_ labels: [String] = [], _ value: Value) { (self.labels, self.value) = (labels, value) }
    package init(_ labels: [String] = [], whole: some BinaryInteger) {
        self.init(labels, .whole(Int64(clamping: whole)))
    }
    package init(_ labels: [String] = [], real: Double) { self.init(labels, .real(real)) }
    package init(_ labels: [String] = [], flag: Bool) { self.init(labels, .whole(flag ? 1 : 0)) }
}
