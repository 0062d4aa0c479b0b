import Foundation
import Kafka
import Telemetry
import TestKit
import Testing

@testable import Run

@Suite("Renewed files of the broker's clients", .serialized)
struct ClientRenewalTests {
    private let folder: SimulationFolder
    private var file: String { folder.file("ca.pem") }
    private var properties: [(String, String)] {
        [
            ("bootstrap.servers", "127.0.0.1:1"), ("security.protocol", "ssl"), ("ssl.ca.location", file),
            ("log_level", "0"),
        ]
    }

    init() throws {
        folder = try SimulationFolder()
        try write(Self.root("Apple_App_Attestation_Root_CA"))
    }

    private static func root(_ name: String) throws -> Data {
        try Data(contentsOf: PackageFolder.url.appending(path: "Config/anchors/\(name).pem"))
    }

    private func write(_ data: Data) throws { try data.write(to: URL(filePath: file), options: .atomic) }

    /// Looks so often, two seconds apart, and says what was told and whether clients are outdated.
    private func look(
        _ times: Int,
        _ renewal: inout ClientRenewal,
        _ clock: FakeClock
    ) -> (renewed: Int, told: [LogEvent]) {
        var (renewed, told) = (0, [LogEvent]())
        for _ in 0..<times {
            clock.seconds += 2
            if renewal.poll({ told.append($0) }) { renewed += 1 }
        }
        return (renewed, told)
    }

    private final class FakeClock { var seconds = 0 }

    @Test func `a renewed file makes the clients outdated once, one that no client can be made of changes nothing`()
        throws
    {
        let clock = FakeClock()
        var renewal = ClientRenewal(properties) { .seconds(clock.seconds) }
        let client = try Admin(KafkaProperties(properties))
        #expect(look(3, &renewal, clock).renewed == 0)
        #expect(!client.isOutdated)

        try write(Data("not a certificate".utf8))
        let refused = look(4, &renewal, clock)
        #expect(refused.renewed == 0 && refused.told.map(\.name) == [.configurationRefused], "\(refused.told)")
        #expect(refused.told.first?.message.contains("ssl.ca.location: \(file) holds no certificate") == true)
        #expect(!client.isOutdated)

        try write(Self.root("Apple_Root_CA_G3"))
        let taken = look(4, &renewal, clock)
        #expect(taken.renewed == 1 && taken.told.map(\.name) == [.configurationReloaded], "\(taken.told)")
        #expect(client.isOutdated)
        #expect(try !Admin(KafkaProperties(properties)).isOutdated)
    }

    @Test func `without such files nothing is looked at`() {
        let clock = FakeClock()
        var renewal = ClientRenewal([("bootstrap.servers", "127.0.0.1:1")]) { .seconds(clock.seconds) }
        let looked = look(3, &renewal, clock)
        #expect(looked.renewed == 0 && looked.told.isEmpty)
    }
}
