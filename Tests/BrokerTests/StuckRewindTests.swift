import TestKit
import Testing

@testable import Broker

struct StuckRewindTests {
    @Test func `partitions where a seek fails are assigned again, less often each time`() {
        var stuck = StuckRewind()
        let start = anyMoment
        var takeovers: [Int] = []
        for second in 0..<240 where stuck.isOver(at: start + .seconds(second)) { takeovers.append(second) }
        #expect(takeovers == [2, 7, 16, 33, 66, 127, 188])
    }
}
