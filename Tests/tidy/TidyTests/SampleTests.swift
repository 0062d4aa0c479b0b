internal import Foundation
internal import Testing

/// Nothing here runs these samples: what they share with each other and with `Config/` is compared.
@Suite("The samples of Kubernetes and compose agree with the configuration")
struct SampleTests {
    private static func text(_ file: String) throws -> String { try #require(SourceTree.text("Config/" + file)) }

    private static func json(_ file: String) throws -> [String: Any] {
        let data = Data(try text(file).utf8)
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    /// A member of a member, such as `metrics.port`.
    private static func value(_ path: String, of file: String) throws -> String? {
        let names = path.split(separator: ".").map(String.init)
        let inner = names.dropLast().reduce(try json(file) as [String: Any]?) { $0?[$1] as? [String: Any] }
        return inner?[names[names.count - 1]].map { "\($0)" }
    }

    private static func property(_ name: String, of file: String) throws -> String? {
        try text(file).split(separator: "\n").first { $0.hasPrefix(name + "=") }.map {
            String($0.dropFirst(name.count + 1))
        }
    }

    private static let kubernetes = ["worker", "gateway", "refresher"]

    @Test func `workers scale by the lag of their own group on their own topic`() throws {
        let scaling = try Self.text("kubernetes/scaling.yaml")
        let topic = try #require(try Self.value("topics.requests", of: "worker.json"))
        let group = try #require(try Self.property("group.id", of: "kubernetes/worker/kafka.properties"))
        let servers = try #require(try Self.property("bootstrap.servers", of: "kubernetes/worker/kafka.properties"))
        #expect(scaling.contains("topic: \(topic)\n") && scaling.contains("consumerGroup: \(group)\n"))
        #expect(scaling.contains("bootstrapServers: \(servers)\n"))
        #expect(try Self.property("group.id", of: "kafka.properties") == group)
        #expect(try Self.property("group.id", of: "kubernetes/refresher/kafka.properties") == group)
    }

    @Test(arguments: kubernetes)
    func `a pod's ports are its configuration's, and its policy lets them and its brokers through`(name: String) throws
    {
        let pods = try Self.text("kubernetes/\(name).yaml")
        let port = try #require(try Self.value("metrics.port", of: "kubernetes/\(name)/worker.json"))
        #expect(pods.contains("- name: metrics\n              containerPort: \(port)\n"))
        if let calls = try Self.value("gateway.port", of: "kubernetes/\(name)/worker.json") {
            #expect(pods.contains("- name: http\n              containerPort: \(calls)\n"))
        }
        let servers = try Self.property("bootstrap.servers", of: "kubernetes/\(name)/kafka.properties")
        let broker = try #require(servers?.split(separator: ":").last)
        let policies = try Self.text("kubernetes/network.yaml").components(separatedBy: "---\n")
        let policy = try #require(policies.first { $0.contains("\n  name: attest-\(name)\n") })
        #expect(policy.contains("- port: metrics\n") && policy.contains("- port: \(broker)\n"))
        #expect(policy.contains("- port: http\n") == (name == "gateway"))
        #expect(try Self.text("kubernetes/monitors.yaml").contains("\"attest-\(name)\""))
    }

    @Test(arguments: kubernetes)
    func `each file of a pod's configuration is in its ConfigMap`(name: String) throws {
        let folder = SourceTree.root.appending(path: "Config/kubernetes/\(name)").path
        let list = try Self.text("kubernetes/kustomization.yaml")
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
            #expect(list.contains("\(name)/\(file)"), "\(file)")
        }
    }

    @Test(arguments: kubernetes)
    func `the secret that a pod's kafka.properties names is mounted where it is looked for`(name: String) throws {
        let properties = try Self.text("kubernetes/\(name)/kafka.properties")
        let path = try #require(properties.firstMatch(of: /\$\{file:\/config\/([a-z\/]+)\}/)).1
        let pods = try Self.text("kubernetes/\(name).yaml")
        #expect(pods.contains("mountPath: /config\n") && pods.contains("                      path: \(path)\n"))
        #expect(pods.contains("- secret:\n                  name: attest-\(name)-secrets\n"))
    }

    @Test(arguments: ["topics", "partitioner", "delivery", "challenges.ttl", "challenges.mode", "limits"])
    func `a gateway and its workers have the same settings where they must`(setting: String) throws {
        let worker = try Self.value(setting, of: "kubernetes/worker/worker.json")
        #expect(try Self.value(setting, of: "kubernetes/gateway/worker.json") == worker)
    }

    @Test func `compose has its configuration's ports and broker, and scrapes the job that the rules expect`() throws {
        let compose = try Self.text("compose/compose.yaml")
        let port = try #require(try Self.value("metrics.port", of: "compose/config/worker.json"))
        let calls = try #require(try Self.value("gateway.port", of: "compose/config/worker.json"))
        let servers = try #require(try Self.property("bootstrap.servers", of: "compose/config/kafka.properties"))
        #expect(compose.contains("KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://\(servers)\n"))
        #expect(compose.contains("127.0.0.1:\(calls):\(calls)\""))
        let scrapes = try Self.text("compose/prometheus.yml")
        #expect(scrapes.contains(#"["worker:\#(port)", "gateway:\#(port)"]"#))
        #expect(scrapes.contains("job_name: attest-worker\n"))
        #expect(try Self.text("observability/rules.yml").contains(#"job="attest-worker""#))
        #expect(try Self.text("compose/config/apps.json") == Self.text("apps.json"))
    }

    @Test func `every file that compose mounts is there`() throws {
        let mounts = try Self.text("compose/compose.yaml").matches(of: /[\[" ](\.{1,2}\/[a-z.\/]+):\//).map {
            String($0.1)
        }
        #expect(mounts.count > 4)
        for mount in mounts {
            let path = SourceTree.root.appending(path: "Config/compose/\(mount)").path
            #expect(FileManager.default.fileExists(atPath: path), "\(mount)")
        }
    }
}
