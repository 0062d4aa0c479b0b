import BrokerKit
import ChaosKit
import Foundation
import Kafka
import Streams
import TestKit
import Testing

/// The proxies of the Gateway page, with its own blocks, before a gateway.
@Suite(
    "Proxies before the gateway",
    .brokerTests,
    .cluster(),
    .serialized
)
struct GatewayProxyTests {
    private static func program(_ name: String) -> URL? {
        ["/usr/sbin/", "/usr/bin/"].map { URL(filePath: $0 + name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path()) }
    }

    private static let nginx = program("nginx")
    private static let haproxy = program("haproxy")
    private static let caddy = program("caddy")

    /// Challenge, exchange and identity through a proxy.
    private func check(_ site: GatewaySite, _ proxy: ProgramProcess, at url: String) throws {
        let path = "/v1/projects/lab-project/apps/1%3A123456789012%3Aios%3A0123456789abcdef:generateAppAttestChallenge"
        #expect(
            Deadline.wait(20) { Curl.call("-X", "POST", url + path + "?key=abc").status == 200 },
            "\(proxy.output) \(proxy.error)"
        )
        try site.serve(devices: 5, records: 60, via: url)
        // What a client says of its own id is overwritten, and of a verifier's name.
        let verify = ["-d", #"{"app_check_token":"e30.eyJqdGkiOiJ4In0.e30"}"#]
        func status(_ headers: [String]) -> Int {
            let url = url + "/v1beta/projects/lab-project:verifyAppCheckToken"
            return Curl.call(headers.flatMap { ["-H", $0] } + verify + [url]).status
        }
        let own = ["X-Request-Id: mine", "Idempotency-Key: mine", "Content-Type: application/json"]
        #expect(status(own + ["Authorization: Bearer \(GatewaySite.secret)"]) == 403)
        #expect(status(["X-Verifier-Name: billing"]) == 401)
        let ids = try site.workplace.records(of: site.workplace.requests).compactMap { $0.text(of: "request-id") }
        #expect(ids.count >= 20 && Set(ids).count == ids.count)
        #expect(!ids.contains("mine"))
        // The proxy's own: an UUID, or 32 hexadecimal digits.
        #expect(ids.allSatisfy { $0.count == 36 || $0.count == 32 })
        #expect(ids.allSatisfy { id in id.allSatisfy { "0123456789abcdef-".contains($0) } })
    }

    /// As the page's blocks have it, so that a client's `X-Verifier-Name` reaches no gateway.
    private static let members = """
        "trustedProxies": ["127.0.0.1"], "verifierHeader": "X-Verifier-Name", "verifierNames": ["billing"],
        """ + " "

    /// nginx with server blocks of the page, and the backend behind them, which answers with the app's name that it got.
    private static func nginx(_ site: GatewaySite, _ servers: String, backend: Int) throws -> ProgramProcess {
        let folder = site.workplace.folder
        let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder)/\($0);" }
        let own = """
            daemon off; master_process off; error_log stderr; pid \(folder)/nginx.pid; events {}
            http { access_log off; \(places.joined(separator: " "))
            server { listen 127.0.0.1:\(backend); underscores_in_headers on;
                location / { return 200 "the backend of $http_x_app_check_app"; } }
            \(servers.replacing("127.0.0.1:8080", with: "127.0.0.1:\(site.port)")
                .replacing("127.0.0.1:9000", with: "127.0.0.1:\(backend)")) }
            """
        try Data(own.utf8).write(to: URL(filePath: folder + "/nginx.conf"))
        return try ProgramProcess(["-c", folder + "/nginx.conf", "-p", folder], in: folder, program: nginx)
    }

    private static func ports(_ count: Int) throws -> [Int] {
        try (0..<count).map { _ in try Int(BrokerPorts.freePort()) }
    }

    @Test(.enabled(if: nginx != nil, "nginx is not installed"))
    func `nginx with the page's blocks serves stock clients, and guards a backend`() throws {
        let site = try GatewaySite("gatewaynginx", members: Self.members)
        let blocks = try PageBlocks.read("Gateway", "nginx")
        try #require(blocks.count == 2)
        let ports = try Self.ports(6)
        let (front, guarded, once) = (ports[0], ports[1], ports[2])
        // The page says what to add so that a token passes once.
        let consuming = blocks[1].replacing("listen 8445", with: "listen 127.0.0.1:\(once)")
            .replacing(
                "0123456789abcdef;",
                with: "0123456789abcdef&consume=1; proxy_set_header Authorization \"Bearer \(GatewaySite.secret)\";"
            )
        let away = blocks[1].replacing("listen 8445", with: "listen 127.0.0.1:\(ports[4])")
            .replacing("127.0.0.1:8080", with: "127.0.0.1:\(ports[5])")
        let servers = blocks.joined(separator: "\n").replacing("listen 8443", with: "listen 127.0.0.1:\(front)")
            .replacing("listen 8445", with: "listen 127.0.0.1:\(guarded)")
        let nginx = try Self.nginx(site, servers + consuming + away, backend: ports[3])
        defer { nginx.signal(SIGTERM) }
        try check(site, nginx, at: "http://127.0.0.1:\(front)")
        try checkGuard(site, guarded: guarded, once: once)
        #expect(Curl.call("http://127.0.0.1:\(ports[4])/").status == 503)
    }

    /// A backend that a proxy asks the gateway for.
    ///
    /// - Parameter once: where a token passes once.
    private func checkGuard(_ site: GatewaySite, guarded: Int, once: Int) throws {
        let token = try #require(try site.sessionTokens().first)
        let page = "http://127.0.0.1:\(guarded)/anything?app=x&consume=1"
        #expect(Curl.call(page).status == 401)
        #expect(Curl.call("-H", "X-Firebase-AppCheck: \(token.dropLast(8))AAAAAAAA", page).status == 401)
        // What the client says of its app is replaced, and its own parameters are not the proxy's.
        let own = ["-H", "X-Firebase-AppCheck: \(token)", "-H", "X-App-Check-App: mine", "-X", "PUT"]
        for body in [[], ["-d", "a body"]] {
            let answer = Curl.call(own + body + [page])
            #expect(answer.status == 200, "\(answer.body)")
            #expect(answer.body.hasSuffix("the backend of 1:123456789012:ios:0123456789abcdef"), "\(answer.body)")
        }
        try checkNames(token, page)
        for header in ["Idempotency-Key: x", "X-Request-Id: x", "X-Verifier-Name: billing"] {
            let statuses = (0..<3).map { _ in
                Curl.call(own + ["-H", header, "http://127.0.0.1:\(once)/once?consume=0"]).status
            }
            #expect(statuses == (header.hasPrefix("Idem") ? [200, 401, 401] : [401, 401, 401]), "\(header)")
        }
    }

    /// No spelling of the header that the client sends reaches the backend, and the gateway's own always does.
    private func checkNames(_ token: String, _ page: String) throws {
        let attempts = [
            ["X_App_Check_App: forged"], ["Connection: close, X-App-Check-App", "X_App_Check_App: forged"],
            ["Connection: x-app-check-app"], ["Connection: Upgrade", "Upgrade: websocket"],
            ["Connection: Upgrade, X-App-Check-App", "Upgrade: h2c", "X_App_Check_App: forged"],
        ]
        for headers in attempts {
            let more = headers.flatMap { ["-H", $0] }
            let answer = Curl.call(["-H", "X-Firebase-AppCheck: \(token)"] + more + [page])
            let isOwn = answer.body.hasSuffix("the backend of 1:123456789012:ios:0123456789abcdef")
            #expect(answer.status == 200 && isOwn, "\(headers): \(answer.body)")
            #expect(Curl.call(more + [page]).status == 401, "\(headers), and no token")
        }
    }

    @Test(.enabled(if: caddy != nil, "caddy is not installed"))
    func `Caddy with the page's block guards a backend`() throws {
        let site = try GatewaySite("gatewaycaddy", members: Self.members)
        try site.serve(devices: 2, records: 10)
        let block = try #require(try PageBlocks.read("Gateway", "caddyfile").first)
        let ports = try Self.ports(3)
        func server(_ port: Int, _ block: String) -> String {
            block.replacing(":8446", with: "http://127.0.0.1:\(port)")
                .replacing("127.0.0.1:8080", with: "127.0.0.1:\(site.port)")
                .replacing("127.0.0.1:9000", with: "127.0.0.1:\(ports[0])")
        }
        // The page says what to add so that a token passes once.
        let consuming = block.replacing(
            "0123456789abcdef\n",
            with: "0123456789abcdef&consume=1\nheader_up Authorization \"Bearer \(GatewaySite.secret)\"\n"
        )
        #expect(consuming != block)
        let backend = """
            http://127.0.0.1:\(ports[0]) {
                respond "the backend of {header.X_App_Check_App}{header.X-App-Check-App}"
            }
            """
        let own = "{\n admin off\n auto_https off\n}\n"
        let file = site.workplace.folder + "/Caddyfile"
        let text = [own, backend, server(ports[1], block), server(ports[2], consuming)].joined(separator: "\n")
        try Data((text + "\n").utf8).write(to: URL(filePath: file))
        let caddy = try ProgramProcess(["run", "--config", file], in: site.workplace.folder, program: Self.caddy)
        defer { caddy.signal(SIGTERM) }
        #expect(Deadline.wait(20) { Curl.call("http://127.0.0.1:\(ports[1])").status == 401 }, "\(caddy.error)")
        try checkGuard(site, guarded: ports[1], once: ports[2])
    }

    @Test(.enabled(if: haproxy != nil, "haproxy is not installed"))
    func `HAProxy with the page's block serves stock clients`() throws {
        let (front, metrics) = (try Int(BrokerPorts.freePort()), try Int(BrokerPorts.freePort()))
        let page = #""metrics": {"port": \#(metrics)}, "#
        let site = try GatewaySite("gatewayhaproxy", members: Self.members + page)
        let block = try #require(try PageBlocks.read("Gateway", "haproxy").first)
        #expect(block.contains("check port 9465"), "HAProxy asks whether the gateway is ready")
        let own = block.replacing("127.0.0.1:8080", with: "127.0.0.1:\(site.port)")
            .replacing("check port 9465", with: "check port \(metrics)")
            .replacing("127.0.0.1:8444", with: "127.0.0.1:\(front)")
        let file = site.workplace.folder + "/haproxy.cfg"
        try Data((own + "\n").utf8).write(to: URL(filePath: file))
        let haproxy = try ProgramProcess(["-db", "-f", file], in: site.workplace.folder, program: Self.haproxy)
        defer { haproxy.signal(SIGTERM) }
        try check(site, haproxy, at: "http://127.0.0.1:\(front)")
    }
}
