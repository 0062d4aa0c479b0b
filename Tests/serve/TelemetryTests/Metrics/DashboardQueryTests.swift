import Foundation
import Testing

/// Queries of the dashboard on series of a worker `w` and a gateway `g`, both running; `g` gives no scrape from minute 2 on.
@Suite("The dashboard tells gateways from workers", .enabled(if: Promtool.path != nil, "promtool is not installed"))
struct DashboardQueryTests {
    private static let series = """
              - {series: 'attest_build_info{job="a",instance="w",engine="ifma"}', values: '1 1 1 1'}
              - {series: 'attest_build_info{job="a",instance="g"}', values: '1 1 stale'}
              - {series: 'attest_state{job="a",instance="w",state="running"}', values: '1 1 1 1'}
              - {series: 'attest_state{job="a",instance="g",state="running"}', values: '1 1 stale'}
              - {series: 'up{job="a",instance="w"}', values: '1 1 1 1'}
              - {series: 'up{job="a",instance="g"}', values: '1 1 0 0'}
        """

    private static func query(_ title: String, _ number: Int) throws -> String {
        let panels = try Dashboard.read(ObservabilityTests.text("dashboard.json")).panels
        let targets = try #require(panels.first { $0.title == title }?.targets)
        return targets[number].expr.replacing(/\$[a-z]+/, with: ".*")
    }

    @Test(arguments: [
        ("Workers running", 0, 1, "{labels: '{}', value: 1}"), ("Workers running", 1, 1, "{labels: '{}', value: 1}"),
        ("Workers running", 1, 3, "{labels: '{}', value: 1}"),
        ("State by worker", 0, 1, #"{labels: '{instance="w"}', value: 5}"#),
        ("State by worker", 0, 3, #"{labels: '{instance="w"}', value: 5}"#),
        ("State by gateway or refresher", 0, 1, #"{labels: '{instance="g"}', value: 5}"#),
        ("State by gateway or refresher", 0, 3, #"{labels: '{instance="g"}', value: -1}"#),
    ])
    func `each panel has its own kind`(title: String, number: Int, minute: Int, sample: String) throws {
        let test = """
            tests:
              - interval: 1m
                input_series:
            \(Self.series)
                promql_expr_test:
                  - expr: '\(try Self.query(title, number))'
                    eval_time: \(minute)m
                    exp_samples: [\(sample)]
            """
        let answer = try withFile(Array(test.utf8)) {
            Promtool.run([Promtool.path ?? "promtool", "test", "rules", $0])
        }
        #expect(answer.code == 0, "\(answer.output)")
    }
}
