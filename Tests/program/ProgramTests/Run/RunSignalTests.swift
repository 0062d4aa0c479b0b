import BrokerKit
import Foundation
import TestKit
import Testing

@Suite("run while its broker does not answer", .waiting, .enabled(if: WorkerBinary.url != nil))
struct RunSignalTests {
    /// Accepts connections and never answers.
    private final class SilentListener {
        private let listener: FileHandle
        let port: UInt16

        init() throws {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            listener = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            // A socket address of the stated size, alive during the calls.
            let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe bind(descriptor, $0, size) == 0 && listen(descriptor, 16) == 0
                        && getsockname(descriptor, $0, &size) == 0
                }
            }
            try #require(isBound)
            port = UInt16(bigEndian: address.sin_port)
        }

        func acceptOne() { _ = accept(listener.fileDescriptor, nil, nil) }
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a signal during the wait for the first answer ends run cleanly`(number: Int32) throws {
        let folder = try SimulationFolder.configured()
        let listener = try SilentListener()
        try folder.write(
            "bootstrap.servers=127.0.0.1:\(listener.port)\ngroup.id=silent\n",
            to: "config/kafka.properties"
        )
        let worker = try folder.start("run")
        // The worker asks its broker: from here on it waits.
        listener.acceptOne()
        worker.signal(number)
        #expect(worker.waitForEnd() == .exit(0), "\(worker.error)")
        #expect(worker.error.contains("stop requested before the broker answered: nothing was started"))
        #expect(!worker.error.contains("without the last commit"))
    }

    @Test(arguments: [1, 2])
    func `run with an embedded broker prints the broker's address`(loops: Int) throws {
        let folder = try SimulationFolder.configured()
        let settings = try folder.text("config/worker.json")
        try folder.write(
            settings.replacing("{", with: "{\"embeddedBroker\": true, \"loops\": \(loops),", maxReplacements: 1),
            to: "config/worker.json"
        )
        let worker = try folder.start("run")
        #expect(worker.says("the embedded broker listens on 127.0.0.1:"), "\(worker.error)")
        #expect(worker.says("2 loops: instances ", seconds: loops == 2 ? 30 : 1) == (loops == 2))
        worker.signal(SIGTERM)
        #expect(worker.waitForEnd() == .exit(0), "\(worker.error)")
    }
}
