import BrokerKit
import ChaosKit
import Foundation
import Kafka
import Testing

private let settings = ClusterSettings {
    $0.users = [ClusterUser("worker", password: TLSFixture.password)]
    $0.hasTLS = true
}

/// The program over TLS, set up with the TLS page's own examples.
@Suite(
    .brokerTests,
    .cluster(settings),
    .serialized
)
struct TLSTests {
    typealias Way = TLSFixture.Way

    @Test func `with each example of the page, and the listed rights, every request is answered once`() throws {
        let fixture = try TLSFixture()
        let workplace = try ProgramWorkplace("open", topics: .workplace)
        try fixture.cluster.add(AccessRule.least("worker", workplace))
        for (index, way) in [Way.tls, .mutual, .password, .token].enumerated() {
            let directory = try fixture.configuration("\(way)", way, workplace)
            try workplace.publish(200, seed: UInt64(index + 1))
            let worker = try start(directory, workplace)
            #expect(try workplace.drains { worker.isRunning }, "\(way): \(worker.error)")
            try expectOrderlyEnd(worker)
        }
        try workplace.expectClean()
    }

    /// One thing that is wrong, and what the one line must say.
    struct Fault: Sendable {
        var way: Way
        var changes: [String: String]
        var files: [String: String] = [:]
        var code: Int32
        /// A line for each property that the library was built without.
        var lines: Int
        var words: [String]

        init(
            _ way: Way,
            _ changes: [String: String] = [:],
            files: [String: String] = [:],
            code: Int32,
            lines: Int = 1,
            _ words: String...
        ) {
            (self.way, self.changes, self.files) = (way, changes, files)
            (self.code, self.lines, self.words) = (code, lines, words)
        }
    }

    /// All at once: each of these workers ends by itself.
    @Test func `one fault ends the start with one line that says what helps, and with no secret`() throws {
        let fixture = try TLSFixture()
        let stranger = try TLSAuthority(folder: fixture.tls.authority.folder.appending(path: "stranger"))
        try stranger.issue("stranger", .client("/O=Example/CN=worker"))
        try fixture.tls.authority.issue("old", .client("/O=Example/CN=worker"), seconds: -60)
        let workplace = try ProgramWorkplace("shut", topics: .nobody)
        let workers = try faults(fixture, stranger).enumerated().map { index, fault in
            let name = "shut-\(index)"
            let directory = try fixture.configuration(name, fault.way, workplace, fault.changes, files: fault.files)
            return (fault, try ProgramProcess(["run", "--config", directory], in: workplace.folder))
        }
        for (fault, worker) in workers {
            #expect(worker.waitForEnd() == .exit(fault.code), "\(fault.words) \(worker.error)")
            #expect(worker.error.split(separator: "\n").count == fault.lines, "\(worker.error)")
            for words in fault.words { #expect(worker.error.contains(words), "\(worker.error)") }
            #expect(worker.keepsSecrets, "\(worker.error)")
        }
    }

    private func faults(_ fixture: TLSFixture, _ stranger: TLSAuthority) -> [Fault] {
        encryption(fixture, stranger) + identity(fixture, stranger) + [
            Fault(.password, files: ["kafka-password": "wrong-55e0"], code: 1, "Authentication failed"),
            Fault(.password, ["sasl.mechanisms": ""], code: 2, "sasl.mechanisms is missing"),
            Fault(.token, ["enable.sasl.oauthbearer.unsecure.jwt": ""], code: 2, "nowhere to get tokens from"),
        ] + (Self.fetchesTokens ? [] : [Fault(.fetchedToken, code: 2, lines: 4, "sasl.oauthbearer.method", "libcurl")])
    }

    /// Whether the library was built with libcurl.
    private static let fetchesTokens: Bool = {
        (try? KafkaProperties([("sasl.oauthbearer.method", "oidc")]).validate()) != nil
    }()

    private func encryption(_ fixture: TLSFixture, _ stranger: TLSAuthority) -> [Fault] {
        let named = fixture.tls.servers.replacing("127.0.0.1", with: "localhost")
        let gone = fixture.path("gone.pem")
        let (location, refused) = ("ssl.ca.location", "the broker's certificate is refused: ")
        return [
            Fault(.tls, [location: stranger.certificate], code: 1, refused + "no authority in ssl.ca.location"),
            Fault(.tls, ["bootstrap.servers": named], code: 1, refused + "it is made out to other names"),
            Fault(.tls, [location: gone], code: 2, "\(location): \(gone) cannot be read: No such file"),
            Fault(.tls, [location: fixture.path("worker.key")], code: 2, location, "holds no certificate as PEM"),
        ]
    }

    private func identity(_ fixture: TLSFixture, _ stranger: TLSAuthority) -> [Fault] {
        let (certificate, key, password) = ("ssl.certificate.location", "ssl.key.location", "ssl.key.password")
        let none = [certificate: "", key: "", password: ""]
        let strange = [certificate: stranger.path("stranger.pem"), key: stranger.path("stranger.key"), password: ""]
        let old = [certificate: fixture.path("old.pem"), key: fixture.path("old.key"), password: ""]
        return [
            Fault(.mutual, none, code: 1, "the broker asks for a client certificate", "set \(certificate)"),
            Fault(.mutual, strange, code: 1, "the broker refuses the client certificate", "truststore"),
            Fault(.mutual, old, code: 1, "the broker refuses the client certificate", "renew it if it has expired"),
            Fault(.mutual, files: ["worker-key-password": "shut-2c44"], code: 2, "\(password) does not open"),
            Fault(.mutual, [password: ""], code: 2, "it has a password: then set \(password)"),
            Fault(.mutual, [key: fixture.path("old.key")], code: 2, "old.key is not the key of"),
        ]
    }
}

extension TLSTests {
    func start(_ directory: String, _ workplace: ProgramWorkplace) throws -> ProgramProcess {
        try ProgramProcess(["run", "--config", directory, "--instance", "one"], in: workplace.folder)
    }

    func expectOrderlyEnd(_ worker: ProgramProcess) throws {
        worker.expectEnd()
        #expect(worker.keepsSecrets, "\(worker.error)")
    }
}
