import ContractKit
import SimulationKit
import Testing

@Suite("The contract on the simulation's client library")
struct ModelContractTests {
    @Test(arguments: ContractScript.scripts(in: .model))
    func `each script ends as the member expects and the list says, whatever the seed`(script: ContractScript) {
        let listed = ModelOutcomes.listed[script.number] ?? []
        var met: Set<String> = []
        for seed in 1...ModelOutcomes.seeds {
            do {
                let outcome = try script.run(in: ModelWorld(seed: seed))
                met.insert(outcome.text)
                #expect(outcome.isAllowed, "\(script) ended as \(outcome.text) with seed \(seed)")
            } catch { Issue.record("\(script), seed \(seed): \(error)") }
        }
        #expect(met.subtracting(listed) == [], "not in Outcomes.txt: \(script.number)")
        guard ModelOutcomes.seeds >= ModelOutcomes.seedsOfList else { return }
        #expect(listed.subtracting(met) == [], "no seed has it: \(script.number)")
    }

    /// Fleets must never meet it.
    @Test func `a revocation behind an unanswered assignment is counted`() throws {
        let world = ModelWorld(seed: 1)
        _ = try ContractScript.g3.run(in: world)
        #expect(world.broker.counts.counts[.revokeHidden] != nil)
    }
}
