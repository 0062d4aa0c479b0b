import BrokerKit
import ChaosKit
import Foundation
import Kafka
import Pipeline
import Testing

extension RunProgramTests {
    @Test func `a run waits for its broker, logs that once, and works when the broker is up`() throws {
        let workplace = try ProgramWorkplace("waiting")
        let broker = try #require(RealClusterTrait.cluster)
        try workplace.simulate(devices: 5, records: 50)
        try broker.kill()
        let worker: ProgramProcess
        do {
            defer { try? broker.start() }
            worker = try workplace.start("run")
            let check = try workplace.start("run", "--check")
            #expect(worker.says("waiting for the broker"))
            #expect(check.waitForEnd() == .exit(1))
            #expect(check.saysOneLine("attest-worker: cannot query the broker: "), "\(check.error)")
        }
        #expect(try workplace.hasOutcomes(50, of: [worker]), "\(worker.error) \(worker.output)")
        worker.expectEnd(on: SIGINT)
        #expect(worker.error.components(separatedBy: "waiting for the broker").count == 2, "\(worker.error)")
        #expect(try Outcomes(of: workplace).counts == ["accepted": 50])
    }

    @Test func `a worker whose broker goes silent amid its start waits for it`() throws {
        let network = try #require(RealClusterTrait.cluster?.network)
        let workplace = try ProgramWorkplace("silent") { $0.kafka = [("bootstrap.servers", network.bootstrapServers)] }
        try workplace.simulate(devices: 5, records: 50)
        // Longer than a question about the topics waits.
        var fault = NetworkFault(.delayAnswer(.seconds(12)), .metadata)
        // Behind three of them the partitions are asked for.
        fault.skips = 3
        let number = network.plan(fault)
        defer { network.forget(number) }
        let worker = try workplace.start("run")
        #expect(try workplace.hasOutcomes(50, of: [worker]), "\(worker.error) \(worker.output)")
        #expect(network.events.done.contains(number))
        #expect(worker.error.contains("waiting for the broker"), "\(worker.error)")
        worker.expectEnd()
    }

    @Test func `missing or unequal topics end run and check with one line`() throws {
        let workplace = try ProgramWorkplace("missing", topics: .nobody)
        for arguments in [[], ["--check"]] {
            let missing = try workplace.refused("run", arguments)
            #expect(missing.saysOneLine("attest-worker: no such topic: missing.requests, "))
            #expect(missing.error.contains("attest-worker create-topics --config DIR --partitions N"))
        }
        let short = [(name: "retention.ms", value: "3600000")]
        let odd = NewTopic(name: workplace.topic("tokens"), partitions: 2, settings: short)
        #expect(try Admin(workplace.properties).createTopics([odd]) == [.created])
        let create = try workplace.refused("create-topics", "--partitions", "3")
        #expect(create.output.contains("exists missing.tokens, but with 2 partitions, not 3"))
        for arguments in [[], ["--check"]] {
            let unequal = try workplace.refused("run", arguments)
            #expect(unequal.saysOneLine("attest-worker: the topics' partition counts differ ("))
            #expect(unequal.error.contains("missing.tokens has 2"))
            #expect(unequal.error.contains("keys do not move with added partitions"))
        }
        #expect(try Admin(workplace.properties).createTopics([odd]) == [.exists], "nothing was changed")
    }

    @Test func `a run that starts a moment before its topics are there works, and run --check passes them`() throws {
        let workplace = try ProgramWorkplace("early", topics: .nobody)
        let worker = try workplace.start("run")
        try workplace.done("create-topics", "--partitions", "3", "--replication", "1")
        #expect(worker.says("topics are in order: 3 partitions"), "\(worker.error)")
        worker.expectEnd()
        let check = try workplace.done("run", "--check")
        #expect(check.output == "configuration, anchors and topics are in order: 3 partitions\n")
        #expect(check.errorBesideLab.isEmpty, "\(check.error)")
    }

    @Test func `run --check names the settings of a broker that endanger a transaction`() throws {
        let workplace = try ProgramWorkplace("endangered")
        let broker = try #require(RealClusterTrait.cluster)
        let verification = "transaction.partition.verification.enable"
        try broker.configure("brokers", nil, "--add-config", verification + "=false")
        defer { try? broker.configure("brokers", nil, "--delete-config", verification) }
        try workplace.rewrite("kafka.properties") {
            $0.replacing("transaction.timeout.ms=10000", with: "transaction.timeout.ms=1000000")
        }
        let check = try workplace.refused("run", "--check")
        #expect(check.error.contains("the broker has \(verification)=false"), "\(check.error)")
        let most = "transaction.timeout.ms=1000000 is above the broker's transaction.max.timeout.ms=900000"
        #expect(check.error.contains(most), "\(check.error)")
    }
}
