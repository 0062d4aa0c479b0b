import BrokerKit
import Foundation

/// Connections to one port that a process of their own holds.
///
/// Foundation's `Process.run()` reads this process's open files, and copies 256 bytes from each entry: beyond 1,365 files
/// it reads past the list's end, which may be the end of mapped memory. So a test process that starts others holds few.
final class Crowd {
    private let process = Process()
    private let (orders, answers) = (Pipe(), Pipe())

    /// Opens the connections and writes to each.
    ///
    /// - Parameters:
    ///   - count: as many as the process may open, at most.
    ///   - text: what each connection writes first.
    ///   - filler: letters that it writes then.
    ///   - isAnswered: whether each waits for a 200.
    init(of count: Int, at port: Int, writing text: String, filler: Int = 0, isAnswered: Bool) throws {
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            [
                "python3", "-c", Self.script, "\(port)", "\(count)", text, "\(filler)",
                isAnswered ? "answered" : "silent",
            ]
        process.standardInput = orders
        process.standardOutput = answers
        try process.run()
        let said = line()
        guard let number = Int(said) else { throw ClusterFault(description: "the crowd says \(said)") }
        self.count = number
    }

    /// The connections that are open.
    private(set) var count = 0

    /// Whether the last connection writes its text once more and gets a 200.
    func isAlive() throws -> Bool {
        try orders.fileHandleForWriting.write(contentsOf: Data("again\n".utf8))
        return line() == "200"
    }

    /// Closes all connections.
    func leave() {
        try? orders.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    private func line() -> String {
        var bytes = Data()
        while let byte = try? answers.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) {
            bytes += byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let script = """
        import resource, socket, sys
        port, count, text, filler, answered = sys.argv[1:]
        text, filler = text.encode(), b"a" * int(filler)
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        def ask(connection):
            connection.sendall(text + filler)
            return connection.recv(4096).split()[1].decode() if answered == "answered" else "200"
        connections = []
        for _ in range(min(int(count), most - 100)):
            connection = socket.create_connection(("127.0.0.1", int(port)), 60)
            status = ask(connection)
            if status != "200":
                sys.exit(print(f"a connection got {status}"))
            connections.append(connection)
        print(len(connections), flush=True)
        for order in sys.stdin:
            print(ask(connections[-1]), flush=True)
        """
}
