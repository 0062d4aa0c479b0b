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

    /// - Parameter series: the name without `_total`, and the labels as in a query: `attest_requests{app,verb}`.
    private init(_ kind: Kind, _ series: String, _ help: String) {
        let parts = series.split { "{,}".contains($0) }.map(String.init)
        (base, labels, self.kind, self.help) = (parts[0], Array(parts.dropFirst()), kind, help)
    }

    static func counter(_ series: String, _ help: String) -> MetricFamily { MetricFamily(.counter, series, help) }
    static func gauge(_ series: String, _ help: String) -> MetricFamily { MetricFamily(.gauge, series, help) }
    static func histogram(_ series: String, _ help: String) -> MetricFamily { MetricFamily(.histogram, series, help) }

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

        static func count(_ count: some BinaryInteger) -> Value { .whole(Int64(clamping: count)) }
        static func flag(_ flag: Bool) -> Value { .whole(flag ? 1 : 0) }
        /// Seconds from milliseconds.
        static func seconds(_ milliseconds: Int64) -> Value { .real(Double(milliseconds) / 1000) }
    }

    /// The values in the order of the family's labels; an empty one is left out.
    let labels: [String]
    let value: Value

    package init(_ labels: [String], _ value: Value) { (self.labels, self.value) = (labels, value) }
    package init(_ labels: [String], whole: some BinaryInteger) { self.init(labels, .count(whole)) }
    package init(_ labels: [String], real: Double) { self.init(labels, .real(real)) }
    package init(_ labels: [String], flag: Bool) { self.init(labels, .flag(flag)) }
}
