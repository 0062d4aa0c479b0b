import BrokerKit
import ChaosKit
import Foundation
import TestKit
import Testing

/// Clients that take all they can get, beside stock clients.
@Suite("A gateway in a crowd", .brokerTests, .cluster(), .serialized)
struct GatewayCrowdTests {
    private static let megabyte = [UInt8](repeating: 0x61, count: 1 << 20)
    private static let ping = "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"

    @Test func `ten thousand idle connections and headers of a megabyte cost little, and stock clients are served`()
        throws
    {
        let site = try GatewaySite("gatewaycrowd")
        try Self.serve(site, "before", seed: 1)
        let before = try site.gateway.residentMegabytes
        let idle = try Crowd(of: 10_000, at: site.port, writing: Self.ping, isAnswered: true)
        let places = idle.count
        try Self.serve(site, "beside \(places) idle connections", seed: 2)
        let crowded = try site.gateway.residentMegabytes
        // 200 of them at once, each with a header that does not end within a megabyte.
        var burdens: [RawClient] = []
        for _ in 0..<200 {
            let client = try #require(RawClient(UInt16(site.port)))
            client.write("GET /healthz HTTP/1.1\r\nHost: h\r\nA: ")
            client.write(Self.megabyte)
            burdens.append(client)
        }
        try Self.serve(site, "beside headers of a megabyte", seed: 3)
        let burdened = try site.gateway.residentMegabytes
        let figures = "\(before) MB, with \(places) idle connections \(crowded), with long headers \(burdened)"
        print("the gateway's resident memory: \(figures)")
        #expect(crowded - before < 20 + places / 25 && burdened - crowded < 30, "\(figures)")
        // The youngest that are idle have stayed.
        #expect(try idle.isAlive())
        idle.leave()
        burdens = []
        site.gateway.expectEnd()
    }

    @Test func `bodies that never end take no more than their bound, and stock clients are served beside them`() throws
    {
        let site = try GatewaySite("gatewaybodies")
        try Self.serve(site, "before", seed: 1)
        let before = try site.gateway.residentMegabytes
        // More than fit: announced and all but sent.
        let head = "POST /v1/a:b HTTP/1.1\r\nHost: h\r\nContent-Length: 65000\r\n\r\n"
        let open = try Crowd(of: 10_000, at: site.port, writing: head, filler: 64_000, isAnswered: false)
        let places = open.count
        let full = try site.gateway.residentMegabytes
        try Self.serve(site, "beside \(places) bodies", seed: 2)
        open.leave()
        #expect(Deadline.wait(30) { (try? site.gateway.residentMegabytes).map { $0 < before + 64 } ?? false })
        let after = try site.gateway.residentMegabytes
        let figures = "\(before) MB, with \(places) unfinished bodies \(full), after them \(after)"
        print("the gateway's resident memory: \(figures)")
        // gateway.waiting.bytes as shipped, and the connections.
        #expect(full - before < 64 + 20 + places / 25, "\(figures)")
        site.gateway.expectEnd()
    }

    private static func serve(_ site: GatewaySite, _ place: String, seed: Int) throws {
        let clients = try site.serve(devices: 10, records: 100, seed: seed)
        #expect(clients.output.contains("answers: 100 with 200"), "\(place): \(clients.output)")
    }
}

extension ProgramProcess {
    fileprivate var residentMegabytes: Int {
        get throws {
            let status = try String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
            return (Int(line.filter(\.isNumber)) ?? 0) / 1024
        }
    }
}
