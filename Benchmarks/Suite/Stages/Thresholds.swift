internal import Foundation
internal import JSON

/// The most that a record may allocate, retain and release, by shape and stage: a file beside the benchmarks, raised deliberately only.
struct Thresholds {
    struct Fault: Error { let sentence: String }

    private struct Limit {
        let allocations: Double
        let bytes: Double
        let references: Double
    }

    private var limits: [String: Limit] = [:]

    /// Reads `{"replay": {"decode": {"allocations": 3.1, "bytes": 900, "references": 30}, …}, …}`.
    init(path: String) throws {
        guard let data = FileManager.default.contents(atPath: path),
            let root = try? JSONDocument(parsing: Array(data)).root
        else { throw Fault(sentence: "\(path) is not a JSON file") }
        for shape in root.members {
            for stage in shape.value.members {
                func figure(_ name: StaticString) throws -> Double {
                    guard let value = stage.value[name]?.numberText.flatMap(Double.init) else {
                        throw Fault(sentence: "\(path): a stage has no number of \(name)")
                    }
                    return value
                }
                limits[Self.name(shape.name, stage.name)] = Limit(
                    allocations: try figure("allocations"),
                    bytes: try figure("bytes"),
                    references: try figure("references")
                )
            }
        }
    }

    private static func name(_ shape: [UInt8], _ stage: [UInt8]) -> String {
        String(decoding: shape, as: UTF8.self) + " " + String(decoding: stage, as: UTF8.self)
    }

    /// A sentence for every figure that has no limit or is above it.
    func breaches(_ report: StageReport) -> [String] {
        report.results.flatMap { result in
            result.figures.flatMap { stage, cost -> [String] in
                let name = "\(result.shape.rawValue) \(stage)"
                guard let limit = limits[name] else { return ["\(name) has no threshold"] }
                func breach(_ value: Double, _ most: Double, _ unit: String, _ cause: String = "allocates") -> [String]
                {
                    // Half of the last place that the file shows.
                    guard value > most + 0.005 else { return [] }
                    let shown = String(format: "%.2f", value)
                    return ["\(name) takes \(shown) \(unit) a record, \(most) are allowed: find what \(cause)"]
                }
                return breach(cost.allocations, limit.allocations, "allocations")
                    + breach(cost.bytes, limit.bytes, "bytes")
                    + breach(cost.references, limit.references, "retains and releases", "is copied")
            }
        }
    }
}
