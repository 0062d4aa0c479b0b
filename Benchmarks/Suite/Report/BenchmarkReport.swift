internal import CommandFrame
internal import Settings

/// A token beside the bare signature in it, in microseconds of a core.
struct TokenCost {
    let name: String
    let bare: Double
    let minted: Double
    /// Cost to bare cost.
    let ratio: Spread
}

/// All figures of one run, for tables, JSON and pages.
struct BenchmarkReport {
    /// Names of the JSON: they stay.
    enum GroupID: String {
        case p256, p384, assertions, attestations, attestationsWithoutReceipts, lanes, allCores, objects, exchange
        case exchangeES256, heldKey

        var title: String {
            switch self {
            case .p256: "P-256 engines, one core"
            case .p384: "P-384 engines, one core"
            case .assertions: "assertions, file to files, one lane"
            case .attestations: "attestations, file to files, one lane"
            case .attestationsWithoutReceipts: "attestations without receipts, file to files, one lane"
            case .lanes: "assertions, by lanes"
            case .allCores: "assertions, all cores"
            case .objects: "objects, one core, OpenSSL"
            case .exchange: "App Check exchange, one core"
            case .exchangeES256: "App Check exchange with ES256, one core"
            case .heldKey: "assertions, an exchange in each \(HeldKeyCandidates.share), all cores"
            }
        }
    }

    struct Group {
        let id: GroupID
        let rows: [Measurement]

        func row(engine: String, batch: Int? = nil) -> Measurement? {
            rows.first { $0.engine == engine && $0.batch == batch }
        }
    }

    let machine: Machine
    let date: String?
    let groups: [Group]
    let tokens: [TokenCost]
    let stages: StageReport

    subscript(_ id: GroupID) -> Group {
        guard let group = groups.first(where: { $0.id == id }) else { preconditionFailure("every group is measured") }
        return group
    }
}

// MARK: - Text

extension BenchmarkReport.Group {
    static let columns = ["records/s", "µs of a core", "ratio", "quartiles"]

    /// Cells of a row, as `columns` says.
    static func cells(_ measured: Measurement) -> [String] {
        [
            Int(measured.perSecond).grouped,
            Benchmarks.rounded(measured.microseconds, 1),
            Benchmarks.rounded(measured.ratio.median, 2),
            Benchmarks.rounded(measured.ratio.low, 2) + "–" + Benchmarks.rounded(measured.ratio.high, 2),
        ]
    }

    var table: String {
        var table = TextTable([.left, .right, .right, .right, .right])
        table.add([id.title] + Self.columns)
        for measured in rows { table.add([measured.name] + Self.cells(measured)) }
        return table.text
    }
}

extension BenchmarkReport {
    static func table(of tokens: [TokenCost]) -> String {
        var table = TextTable([.left, .right, .right, .right, .right])
        table.add("a token minted", "µs of a core", "bare signature", "of the bare cost", "quartiles")
        for cost in tokens {
            table.add(
                cost.name,
                Benchmarks.rounded(cost.minted, 1),
                Benchmarks.rounded(cost.bare, 1),
                Benchmarks.rounded(cost.ratio.median, 3),
                Benchmarks.rounded(cost.ratio.low, 3) + "–" + Benchmarks.rounded(cost.ratio.high, 3)
            )
        }
        return table.text
    }
}
