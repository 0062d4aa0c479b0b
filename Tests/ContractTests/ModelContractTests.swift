import ContractKit
import Testing

@Suite("The contract on the simulation's client library")
struct ModelContractTests {
    private static let seeds = 1...20 as ClosedRange<UInt64>

    private static let scripts = AnyScript.scripts(in: .model).filter { $0.needs.isSubset(of: ModelWorld.all) }

    @Test(arguments: scripts)
    func `Each script ends as the member expects, whatever the seed`(script: AnyScript) throws {
        for seed in Self.seeds {
            do {
                let outcome = try script.run(in: ModelWorld(seed: seed))
                #expect(outcome.isAllowed, "\(script) ended as \(outcome.text) with seed \(seed)")
            } catch { Issue.record("\(script), seed \(seed): \(error)") }
        }
    }
}
