import ContractKit
import TestKit
import Testing

@Suite("The contract on librdkafka and its mock cluster", .waiting)
struct MockContractTests {
    @Test(arguments: ContractScript.scripts(in: .mock))
    func `each script ends as the member expects`(script: ContractScript) throws {
        let outcome = try script.run(in: MockBrokers().world)
        #expect(outcome.isAllowed, "\(script) ended as \(outcome.text)")
        guard script.isModelled, !script.dependsOnMachine, !outcome.isOfNewerLibrary else { return }
        let modelled = ModelOutcomes.listed[script.number] ?? []
        #expect(modelled.contains(outcome.text), "the model is too kind: \(script) ended as \(outcome.text)")
    }

    @Test func `each script has a number of its own`() {
        let numbers = ContractScript.all.map(\.number)
        #expect(Set(numbers).count == numbers.count)
    }
}
