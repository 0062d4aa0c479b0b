import BrokerKit
import Foundation
import Streams
import Testing

extension RunProgramTests {
    @Test(arguments: ["static", "dynamic"])
    func `loops of one process share its partitions, and another number of them goes on where they stopped`(
        membership: String
    ) throws {
        let workplace = try ProgramWorkplace("loops-\(membership)") {
            ($0.membership, $0.partitions, $0.members) = (membership, 5, #""batch": {"records": 20},"#)
            // So long a static member is missed.
            $0.kafka = [("session.timeout.ms", "3000")]
        }
        let all = try workplace.simulated(devices: 30, records: 900)
        for (number, loops) in [2, 1, 3].enumerated() {
            try workplace.rewrite("worker.json") { Self.withLoops(loops, $0) }
            try workplace.put(Array(all[(number * 300)..<(number * 300 + 150)]))
            let worker = try workplace.start("run", "--instance", "one")
            #expect(try workplace.hasMembers(loops), "\(worker.error)")
            try workplace.put(Array(all[(number * 300 + 150)..<(number * 300 + 300)]))
            #expect(try workplace.hasOutcomes((number + 1) * 300, of: [worker]), "\(worker.error)")
            worker.expectEnd()
            #expect(worker.requests == 300, "\(worker.error)")
            let line = "\(loops) loops: instances one-0 to one-\(loops - 1)"
            #expect(worker.error.contains(line) == (loops > 1), "\(worker.error)")
        }
        // A lost or repeated counter would be refused.
        #expect(try Outcomes(of: workplace).counts == ["accepted": 900])
    }

    private static func withLoops(_ count: Int, _ text: String) -> String {
        let bare = text.replacing(/"loops": \d+,/, with: "")
        return bare.replacing("\"anchors\"", with: "\"loops\": \(count),\"anchors\"", maxReplacements: 1)
    }
}
