import AppAttest
import AppCheck
import Foundation
import Pipeline
import Streams
import Testing

@testable import Telemetry

@Suite("The text of a scrape")
struct ExpositionTests {
    private static let counter = MetricFamily.counter("a_things{app,reason}", "Things.")

    private static func text(_ format: Exposition.Format, _ family: MetricFamily, _ samples: [MetricSample]) -> String {
        var page = Exposition(format)
        page.write(family, samples)
        return String(decoding: page.finish(), as: UTF8.self)
    }

    @Test func `a counter's family has its suffix in text, and none in OpenMetrics`() {
        let samples = [
            MetricSample(["x", "y"], whole: 3), MetricSample(["x", ""], whole: 0), MetricSample(["", ""], whole: 1),
        ]
        let series = "a_things_total{app=\"x\",reason=\"y\"} 3\na_things_total{app=\"x\"} 0\na_things_total 1\n"
        #expect(
            Self.text(.text, Self.counter, samples)
                == "# HELP a_things_total Things.\n# TYPE a_things_total counter\n" + series
        )
        #expect(
            Self.text(.openMetrics, Self.counter, samples)
                == "# HELP a_things Things.\n# TYPE a_things counter\n\(series)# EOF\n"
        )
    }

    @Test(arguments: [
        ("a\"b", "a\\\"b"), ("a\\b", "a\\\\b"), ("a\nb", "a\\nb"), ("ä\u{301}🙂", "ä\u{301}🙂"), ("\\n", "\\\\n"),
    ])
    func `labels are escaped`(value: String, written: String) {
        let text = Self.text(.text, Self.counter, [MetricSample([value, ""], whole: 1)])
        #expect(
            text.utf8.elementsEqual(
                ("# HELP a_things_total Things.\n# TYPE a_things_total counter\n"
                    + "a_things_total{app=\"\(written)\"} 1\n").utf8
            )
        )
    }

    @Test func `a histogram's buckets are sums, in the family's unit`() {
        var histogram = Histogram([5, 1_000])
        for value: Int64 in [0, 5, 6, 1_000, 1_001, 7_000] { histogram.add(value) }
        let family = MetricFamily.histogram("a_seconds", "Seconds.")
        let text = Self.text(.text, family, [MetricSample([], .histogram(histogram, unit: 0.001))])
        #expect(
            text.split(separator: "\n").dropFirst(2) == [
                "a_seconds_bucket{le=\"0.005\"} 2", "a_seconds_bucket{le=\"1.0\"} 4", "a_seconds_bucket{le=\"+Inf\"} 6",
                "a_seconds_sum 9.012", "a_seconds_count 6",
            ]
        )
    }

    @Test func `a family without series is not written`() {
        #expect(Self.text(.text, Self.counter, []) == "")
        #expect(Self.text(.openMetrics, Self.counter, []) == "# EOF\n")
    }

    @Test(
        arguments: [
            (nil, false), ("", false), ("*/*", false), ("text/plain", false), ("text/html", false),
            ("application/json", false),
            ("application/openmetrics-text", true), ("application/openmetrics-text; version=1.0.0", true),
            ("application/openmetrics-text;version=0.0.1", false),
            ("application/openmetrics-text;version=\"1.0.0\"", true),
            ("APPLICATION/OPENMETRICS-TEXT;Version=1.0.0;Q=0.1", true), ("application/openmetrics-text;q=0", false),
            ("application/openmetrics-text;q=0.4,text/plain;q=0.5", false),
            ("application/openmetrics-text;q=0.5,text/plain;q=0.5", true),
            ("application/openmetrics-text;q=0.3,*/*;q=0.1", true),
            ("application/openmetrics-text;q=0.3,text/*;q=0.4", false),
            ("application/openmetrics-text;q=x", false), (";;,,;q=1,=,", false),
            // As Prometheus 2 and 3 ask.
            (
                "application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;version=0.0.1;q=0.75,"
                    + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1", true
            ),
            (
                "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
                    + "application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,"
                    + "text/plain;version=0.0.4;q=0.2,/;q=0.1", true
            ),
        ] as [(String?, Bool)]
    )
    func `the client's weights choose the format`(accept: String?, isOpenMetrics: Bool) {
        #expect(AcceptHeader(accept).format == (isOpenMetrics ? .openMetrics : .text))
    }

    @Test func `a header of any length is read`() {
        let long = String(repeating: "application/openmetrics-text,", count: 10_000)
        #expect(AcceptHeader(long).format == .text)
    }

    @Test(arguments: MetricFamily.all)
    func `a family's name and help are as both formats want them`(family: MetricFamily) {
        #expect(family.name.wholeMatch(of: /(attest|process)_[a-z_]+/) != nil)
        #expect(!family.help.contains { "\\\"\n".contains($0) } && family.help.hasSuffix("."))
        #expect(MetricFamily.all.count { $0.base == family.base } == 1)
    }
}
