import BrokerKit
import ChaosKit
import Foundation
import Testing

extension TLSTests {
    /// How long the certificates live at first. On a busy machine they may expire before the workers have started: then
    /// they live twice as long.
    private static let lives: [TimeInterval] = [20, 40, 80, 160, 320]

    /// Two workers at once, to save time: one whose broker's certificate expires, and one whose own does.
    @Test func `certificates expire while workers run, and no request is lost or answered twice`() throws {
        let fixture = try TLSFixture()
        let (cluster, tls) = (fixture.cluster, fixture.tls)
        let waiting = try ProgramWorkplace("waiting", topics: .workplace)
        let outdated = try ProgramWorkplace("outdated", topics: .workplace)
        try cluster.add(AccessRule.least("worker", outdated))
        let short: [String: String] = [
            "ssl.certificate.location": tls.authority.path("short.pem"),
            "ssl.key.location": tls.authority.path("short.key"), "ssl.key.password": "",
        ]
        let waitingDirectory = try fixture.configuration("expiry", .tls, waiting)
        let outdatedDirectory = try fixture.configuration("expiry", .mutual, outdated, short)
        for workplace in [waiting, outdated] { try workplace.publish(200, seed: 1) }
        var isOver = false
        // The other tests need a broker that lives.
        defer { if !isOver { try? renew(fixture, [waiting, outdated]) } }
        var (workers, expiry): ([ProgramProcess], Date) = ([], .now)
        for life in Self.lives {
            for worker in workers { worker.signal(SIGKILL) }
            for worker in workers { _ = worker.waitForEnd() }
            expiry = Date(timeIntervalSinceNow: life)
            try tls.renew(seconds: life)
            try tls.authority.issue("short", .client("/O=Example/CN=worker"), seconds: life)
            try restart(cluster, [waiting, outdated])
            workers = try [start(waitingDirectory, waiting), start(outdatedDirectory, outdated)]
            let answered = try zip([waiting, outdated], workers).map { place, worker in
                try place.drains(seconds: Int(life)) { worker.isRunning }
            }
            if !answered.contains(false), Date.now < expiry { break }
            for worker in workers { print("with \(life) s to live: \(worker.error)") }
        }
        try #require(Date.now < expiry, "the machine is too busy: no certificate outlives a start")
        Thread.sleep(until: expiry.addingTimeInterval(1))
        try answer(200, seed: 2, [waiting, outdated], workers)

        // From now on each connection begins with an expired certificate.
        try restart(cluster, [waiting, outdated])
        for workplace in [waiting, outdated] { try workplace.publish(200, seed: 3) }
        #expect(workers[1].waitForEnd() == .exit(1), "\(workers[1].error)")
        #expect(workers[1].lastLine.contains("refuses the client certificate"), "\(workers[1].error)")
        #expect(workers[1].lastLine.contains("this worker ends to be started again"), "\(workers[1].error)")
        #expect(workers[0].says("the broker's certificate is refused: it has expired"), "\(workers[0].error)")
        #expect(workers[0].isRunning, "\(workers[0].error)")
        let again = try start(outdatedDirectory, outdated)
        #expect(again.waitForEnd() == .exit(1), "\(again.error)")
        #expect(again.error.split(separator: "\n").count == 1, "one line: \(again.error)")

        try tls.authority.issue("short", .client("/O=Example/CN=worker"))
        try renew(fixture, [waiting, outdated])
        isOver = true
        let renewed = try start(outdatedDirectory, outdated)
        try answer(0, seed: 4, [waiting, outdated], [workers[0], renewed])
        #expect(workers[0].says("is back, after "), "\(workers[0].error)")
        for worker in [workers[0], renewed] { try expectOrderlyEnd(worker) }
        #expect(workers[1].keepsSecrets && again.keepsSecrets)
        for workplace in [waiting, outdated] {
            try workplace.expectClean()
        }
    }

    private func answer(_ count: Int, seed: UInt64, _ places: [ProgramWorkplace], _ workers: [ProgramProcess]) throws {
        if count > 0 { for place in places { try place.publish(count, seed: seed) } }
        for (place, worker) in zip(places, workers) {
            #expect(try place.drains { worker.isRunning }, "\(worker.error)")
        }
    }

    private func renew(_ fixture: TLSFixture, _ places: [ProgramWorkplace]) throws {
        try fixture.tls.renew(seconds: 86_400)
        try restart(fixture.cluster, places)
    }

    /// A single broker that is killed may lose the markers of open and just decided transactions. Readers of the ledger then
    /// never reach its end, so this first waits until no transaction is open.
    private func restart(_ cluster: RealCluster, _ places: [ProgramWorkplace]) throws {
        for place in places {
            for stream in ProgramWorkplace.streams {
                #expect(try place.settles(stream), "a transaction on \(place.topic(stream)) stays open")
            }
        }
        // __consumer_offsets is not read here: it gets its markers at about the same time.
        Thread.sleep(forTimeInterval: 0.5)
        try cluster.kill()
        try cluster.start()
    }
}
