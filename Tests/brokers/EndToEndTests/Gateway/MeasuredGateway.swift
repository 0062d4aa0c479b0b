import BrokerKit
import ChaosKit
import Foundation
import Streams
import TestKit

/// A gateway on a workplace's broker, with metrics, and the load for each of its panels.
struct MeasuredGateway {
    let process: ProgramProcess
    private let workplace: ProgramWorkplace
    private let port: Int
    private var url: String { "http://127.0.0.1:\(port)" }

    /// - Parameters:
    ///   - workplace: of a worker with metrics.
    ///   - metrics: the port of the gateway's own metrics.
    init(beside workplace: ProgramWorkplace, metrics: Int) throws {
        port = try Int(BrokerPorts.freePort())
        let config = try workplace.copyConfig(as: "gateway")
        let settings = #""metrics": {"port": \#(metrics)}, "gateway": {"port": \#(port), "deadline": "3s"}"#
        try workplace.rewrite("worker.json", of: "gateway") { $0.replacing(/"metrics": \{[^}]*\}/, with: settings) }
        self.workplace = workplace
        process = try ProgramProcess(["gateway", "--config", config, "--instance", "g1"], in: workplace.folder)
        guard process.says("serves 127.0.0.1, port \(port)", seconds: 60) else {
            throw ClusterFault(description: process.error)
        }
    }

    /// Makes the one call that gets 504: no worker runs yet.
    ///
    /// - Returns: its status.
    func late() throws -> Int {
        for record in try workplace.simulated(devices: 1, records: 9, verbs: "exchangeAppAttestAssertion") {
            let value = try JSONSerialization.jsonObject(with: Data(record.value ?? [])) as? [String: Any]
            guard let path = value?["path"] as? String, let body = value?["body"],
                path.hasSuffix(":exchangeAppAttestAssertion")
            else { continue }
            let text = String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
            return Curl.call("-d", text, "\(url)/\(path.drop { $0 == "/" })").status
        }
        return 0
    }

    /// Stock clients, a call of an unknown path, and one that is no proper HTTP.
    ///
    /// - Returns: the statuses of the last two.
    func load(seed: UInt64) throws -> [String] {
        try workplace.done(
            "simulate",
            ["--live", "--via", url, "--devices", "5", "--records", "30", "--seed", "\(seed)"]
        )
        let client = RawClient(UInt16(port))
        client?.write("GET /healthz HTTP/1.1\r\nHost : a\r\n\r\n")
        return [String(Curl.call(url + "/no/path").status), client?.readAnswer()?.status ?? "none"]
    }
}
