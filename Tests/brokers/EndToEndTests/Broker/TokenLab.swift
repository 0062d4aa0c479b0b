import BrokerKit
import Foundation

/// A token command for tests: a script whose behaviour is the content of a file, and which counts its runs.
struct TokenLab {
    enum Mode: String {
        /// A token that lives for so many seconds as the lab says.
        case good
        /// A token that the broker finds expired, though the command says that it lives.
        case refused
        case failing
        case hanging
    }

    static let secret = "denied-by-5cd1"

    private let folder = FileManager.default.temporaryDirectory.path + "/tokens-\(UUID().uuidString)"
    private var command: String { folder + "/token" }

    init(life: Int) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let script = """
            #!/bin/sh
            echo run >> "$0.runs"
            read mode < "$0.mode"
            now=$(date +%s)
            end=$((now + \(life)))
            case $mode in
              failing) echo "no answer of the token endpoint" >&2; echo "\(Self.secret)" >&2; exit 3 ;;
              hanging) exec tail -f /dev/null ;;
              refused) exp=$((now - 60)) ;;
              *) exp=$end ;;
            esac
            encode() { base64 -w 0 | tr '+/' '-_' | tr -d '='; }
            head=$(printf '{"alg":"none"}' | encode)
            body=$(printf '{"sub":"%s","iat":%s,"exp":%s}' "$1" $((now - 120)) $exp | encode)
            printf '{"token":"%s.%s.","principal":"%s","lifetimeMs":%s000}' "$head" "$body" "$1" $end

            """
        try Data(script.utf8).write(to: URL(filePath: command))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: command)
        try set(.good)
    }

    func set(_ mode: Mode) throws {
        try Data((mode.rawValue + "\n").utf8).write(to: URL(filePath: command + ".mode"), options: .atomic)
    }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    /// How often the command has run.
    var runs: Int {
        let text = try? String(contentsOfFile: command + ".runs", encoding: .utf8)
        return text?.split(separator: "\n").count ?? 0
    }

    /// The lines of kafka.properties.
    func properties(_ tls: ClusterTLS, user: String = "worker") -> [(name: String, value: String)] {
        [
            ("bootstrap.servers", tls.saslServers), ("security.protocol", "sasl_ssl"),
            ("ssl.ca.location", tls.authority.certificate), ("sasl.mechanisms", "OAUTHBEARER"),
            // A program must lie where others cannot exchange it.
            ("sasl.oauthbearer.token.command", "/bin/sh \(command) \(user)"),
        ]
    }
}
