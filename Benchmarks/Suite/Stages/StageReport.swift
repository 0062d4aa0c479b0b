internal import CMallocCounter
internal import CommandFrame

/// What all but signatures costs, by stage: time beside a bare P-256 verification; allocations, retains and releases exactly.
struct StageReport {
    /// One shape's stages: medians of seconds, the last round's allocations, per record.
    struct Result {
        let shape: StageRig.Shape
        let stages: [StageCost]
        /// The rounds' own ratios.
        let shareOfVerification: Spread

        var whole: StageCost { stages.reduce(StageCost(), +) }

        var serial: StageCost {
            MeasuredStage.allCases.filter(\.isSerial).reduce(StageCost()) { $0 + stages[$1.rawValue] }
        }

        /// Names as in the thresholds' file.
        var figures: [(name: String, cost: StageCost)] {
            [("whole", whole)] + MeasuredStage.allCases.map { ($0.name, stages[$0.rawValue]) }
        }
    }

    let results: [Result]

    /// - Parameter rounds: of each shape, in turns with the bare verification.
    init(_ fixtures: Fixtures, perDevice: Int, rounds: Int) {
        let rig = StageRig(fixtures, rounds: perDevice)
        let bare = BareVerify(fixtures.bareSamples())
        let count = fixtures.devices.count
        results = StageRig.Shape.allCases.map { shape in
            _ = rig.measure(shape)
            var (all, shares): ([[StageCost]], [Double]) = ([], [])
            for _ in 0..<rounds {
                let verification = Elapsed.of { precondition(bare.run(count) == count, "valid signatures") }
                all.append(rig.measure(shape))
                let whole = all[all.count - 1].reduce(StageCost(), +)
                shares.append(whole.seconds * Double(count) / verification.processor)
            }
            let stages = MeasuredStage.allCases.map { stage in
                let own = all.map { $0[stage.rawValue] }
                var cost = own[own.count - 1]
                cost.seconds = Harness.median(own.map(\.seconds))
                return cost
            }
            return Result(shape: shape, stages: stages, shareOfVerification: Spread(shares))
        }
    }

    /// Whether allocations are counted at all.
    static var counts: Bool { malloc_is_counted() }

    func table(_ format: (Double, Int) -> String) -> String {
        results.map { result in
            var table = TextTable([.left, .right, .right, .right, .right])
            let title = "\(result.shape.rawValue) of assertions, without signatures"
            table.add(title, "µs", "allocations", "bytes", "retains and releases")
            func add(_ title: String, _ cost: StageCost) {
                table.add(
                    title,
                    format(cost.seconds * 1e6, 2),
                    format(cost.allocations, 2),
                    format(cost.bytes, 0),
                    format(cost.references, 1)
                )
            }
            for stage in MeasuredStage.allCases { add(stage.title, result.stages[stage.rawValue]) }
            add("serial on the loop", result.serial)
            add("whole", result.whole)
            return table.text + "\nof a bare P-256 verification: " + format(result.shareOfVerification.median, 3)
        }
        .joined(separator: "\n\n")
    }
}
