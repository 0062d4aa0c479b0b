package import BrokerKit
internal import TestKit

extension ProgramWorkplace {
    /// Fake devices' requests, all of them acknowledged when this returns.
    package func publish(_ requests: Int, seed: UInt64 = 1, devices: Int = 20, faultShare: Double = 0.1) throws {
        let producer = ChaosProducer(properties, topic: self.requests, partitions: partitions)
        var settings = ChaosSettings()
        (settings.seed, settings.requests, settings.devices) = (seed, requests, devices)
        settings.faultShare = faultShare
        producer.start { [ca, settings] in try ChaosTraffic(ca: ca, settings) }
        _ = eventually({ producer.status.acknowledged }, until: { _ in producer.status.isDone })
        guard producer.status.isDone, producer.status.acknowledged == requests else {
            producer.stop()
            throw ClusterFault(description: "not published: \(producer.status)")
        }
    }

    /// Reads all that was written and checks it against the worker's promises.
    package func reckon() throws -> ChaosFindings {
        let reading = try ChaosReader(workplace: self).read()
        var findings = ChaosChecker.check(reading.evidence)
        for place in reading.open { findings.add(.openTransaction, place) }
        return findings
    }
}
