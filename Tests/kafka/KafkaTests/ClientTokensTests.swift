import KafkaPorts
import TestKit
import Testing

@testable import Kafka

/// Clients that need no broker: they have no place to connect to.
@Suite("Tokens of a process's clients", .waiting)
struct ClientTokensTests {
    private static func client(_ command: String) throws -> ClientHandle {
        let settings = [
            ("security.protocol", "sasl_plaintext"), ("sasl.mechanisms", "OAUTHBEARER"),
            (KafkaProperties.tokenCommand, command), ("log_level", "0"),
        ]
        return try ClientHandle(.producer, KafkaProperties(settings), context: CallbackContext())
    }

    private static func fault(of client: ClientHandle) -> KafkaFault? {
        _ = eventually {
            client.serve()
            return client.context.observations.connectionFault == nil ? 0 : 1
        } until: {
            $0 == 1
        }
        return client.context.observations.connectionFault
    }

    @Test func `clients of now and of later are told why there is no token, as of a broker that is away`() throws {
        let command = "/bin/one"
        let first = try Self.client(command)
        ClientTokens.of(command).fail("\(KafkaProperties.tokenCommand) ended with exit code 3")
        for client in [first, try Self.client(command)] {
            let fault = try #require(Self.fault(of: client))
            #expect(fault.message.contains("token.command ended with exit code 3"))
            #expect(fault.isRecoverable && !fault.isRefusal && !fault.mayNeedNewClient)
        }
    }

    @Test func `a token reaches the clients that are there, and no client that has ended`() throws {
        let command = "/bin/two"
        let tokens = ClientTokens.of(command)
        var clients = try (0..<3).map { _ in try Self.client(command) }
        clients.removeLast()
        let extensions = ["cluster", "one"]
        let far: Int64 = 4_000_000_000_000
        tokens.set(BearerToken(text: "a.b.", principal: "worker", end: far, extensions: extensions))
        clients.append(try Self.client(command))
        for client in clients { client.serve() }
        #expect(clients.allSatisfy { $0.context.observations.connectionFault == nil })
    }

    @Test func `a broker's refusal asks for another token, and the next token is a new chance`() throws {
        let tokens = ClientTokens.of("/bin/three")
        #expect(!tokens.hasRefusal)
        tokens.noteRefusal()
        #expect(tokens.hasRefusal)
        tokens.set(BearerToken(text: "a.b.", principal: "worker", end: 4_000_000_000_000))
        #expect(!tokens.hasRefusal)
    }

    @Test func `the library never sees the command, and a relative path is refused`() throws {
        try KafkaProperties([(KafkaProperties.tokenCommand, "/bin/token --region x")]).validate()
        #expect(KafkaProperties.complaint(about: KafkaProperties.tokenCommand, "/bin/token") == nil)
        #expect(KafkaProperties.complaint(about: KafkaProperties.tokenCommand, "token")?.contains("whole path") == true)
        #expect(KafkaProperties.complaint(about: "topic." + KafkaProperties.tokenCommand, "/bin/token") != nil)
    }
}
