internal import BrokerKit
internal import Foundation
internal import Kafka
internal import Lab
internal import TestKit

/// The gateways of a run, and a proxy before them where nginx is installed. For one thread at a time.
///
/// The first gateway comes to the brokers through the network, which may cut it off; the others do not.
final class ChaosGates {
    /// The longest that a call waits for its answer.
    static let deadlineSeconds = 8

    private static let startSeconds = 60
    private static let nginx = ["/usr/sbin/nginx", "/usr/bin/nginx"].first(
        where: FileManager.default.isExecutableFile
    )

    let crew: ChaosCrew
    /// Where clients may call: each gateway, then the proxy.
    private(set) var urls: [String]
    private let workplace: ProgramWorkplace
    private let ports: [Int]
    private let network: ChaosNetwork?
    private var proxy: ProgramProcess?
    private let log: (String) -> Void

    /// Writes the gateways' configurations; none runs yet.
    init(
        _ settings: ChaosSettings,
        _ workplace: ProgramWorkplace,
        _ network: ChaosNetwork?,
        via servers: String?,
        log: @escaping (String) -> Void
    ) throws {
        (self.workplace, self.network, self.log) = (workplace, network, log)
        let folder = workplace.folder
        try workplace.writeGatewayFiles()
        ports = try (0..<settings.gateways).map { _ in try Int(BrokerPorts.freePort()) }
        let names = (1...settings.gateways).map { "g\($0)" }
        for (index, name) in names.enumerated() {
            try workplace.copyConfig(as: name)
            let own = """
                "gateway": {"port": \(ports[index]), "publicKeys": "jwks.json", "verifiers": "verifiers", \
                "deadline": "\(Self.deadlineSeconds)s", "trustedProxies": ["127.0.0.1"]}, "anchors"
                """
            try workplace.rewrite("worker.json", of: name) { $0.replacing("\"anchors\"", with: own) }
            let bootstrap = index == 0 ? servers : nil
            let lines = [
                "bootstrap.servers=\(bootstrap ?? workplace.properties["bootstrap.servers"] ?? "")",
                "socket.nagle.disable=true", "reconnect.backoff.max.ms=1000", "",
            ]
            try workplace.write(lines.joined(separator: "\n"), to: name + "/kafka.properties")
        }
        urls = ports.map { "http://127.0.0.1:\($0)" }
        crew = ChaosCrew(settings, names, in: folder, log: log) { name, streams in
            try ProgramProcess(["gateway", "--config", "\(folder)/\(name)", "--instance", name], streams: streams)
        }
    }

    /// Starts all of them, and waits until they serve.
    func start() throws {
        try crew.start()
        for url in urls { try Self.await(url) }
        guard let nginx = Self.nginx else { return log("nginx is not installed: no proxy before the gateways") }
        let port = try Int(BrokerPorts.freePort())
        try workplace.write(proxySettings(port), to: "nginx.conf")
        proxy = try ProgramProcess(
            ["-c", workplace.file("nginx.conf"), "-p", workplace.folder],
            in: workplace.folder,
            program: URL(filePath: nginx)
        )
        urls.append("http://127.0.0.1:\(port)")
        try Self.await(urls[urls.count - 1])
    }

    /// As the Gateway page has it, with shorter limits: a gateway that is paused is given up before its calls are.
    private func proxySettings(_ port: Int) -> String {
        let folder = workplace.folder
        let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder)/\($0);" }
        let servers = ports.map { "server 127.0.0.1:\($0) max_fails=0;" }
        return """
            daemon off; master_process off; error_log stderr; pid \(folder)/nginx.pid; events {}
            http { access_log off; \(places.joined(separator: " "))
            upstream gateways { \(servers.joined(separator: " ")) keepalive 16; }
            server { listen 127.0.0.1:\(port); location / {
            proxy_pass http://gateways; proxy_http_version 1.1; proxy_set_header Connection "";
            proxy_set_header Host $host; proxy_set_header X-Request-Id $request_id;
            proxy_connect_timeout 2s; proxy_read_timeout \(Self.deadlineSeconds - 2)s;
            proxy_next_upstream error timeout non_idempotent; client_max_body_size 64k; } } }
            """
    }

    private static func await(_ url: String) throws {
        let link = try HTTPStockLink(GatewayTarget(base: url), connections: 1)
        guard Deadline.wait(startSeconds, until: { link.probe() == nil }) else {
            throw ClusterFault(description: "\(url) does not serve")
        }
    }

    /// Injects a fault. - Returns: a description; nil if no gateway is eligible now.
    func apply(_ planned: PlannedFault) throws -> String? {
        if planned.fault == .cutOffGateway { return network?.cutOff(planned) }
        return try crew.apply(planned)
    }

    /// Asks every gateway to end and waits for it.
    func finish() throws {
        try crew.finish()
        proxy?.signal(SIGTERM)
        _ = proxy?.waitForEnd(seconds: 10)
    }
}
