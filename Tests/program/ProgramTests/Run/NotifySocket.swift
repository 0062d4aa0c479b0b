internal import Foundation
internal import TestKit
internal import Testing

@testable internal import Run

/// Listens as systemd does, and keeps what it is sent.
final class NotifySocket {
    private let file: Int32
    private(set) var heard = ""

    /// - Parameter name: a path, or `@` and an abstract name.
    init(_ name: String) throws {
        file = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        let (address, length) = try #require(ServiceManager.address(of: name))
        // A socket address of the stated size, alive during the call.
        let isBound = unsafe withUnsafePointer(to: address) { place in
            unsafe place.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(file, $0, length) == 0 }
        }
        try #require(isBound)
    }

    deinit { close(file) }

    /// Whether a text comes.
    func hears(_ text: String) -> Bool {
        var watch = StandstillWatch<String>()
        while !heard.contains(text), !watch.isStill(heard) { take() }
        return heard.contains(text)
    }

    /// Whether nothing at all comes for a second.
    func isSilent() -> Bool {
        let before = heard
        for _ in 0..<10 { take() }
        return heard == before
    }

    /// One message, or a tenth of a second.
    private func take() {
        var entry = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
        // One entry, which the call fills in; then a buffer of the stated size.
        guard unsafe poll(&entry, 1, 100) > 0 else { return }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe recv(file, &bytes, bytes.count, 0)
        heard += String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) + "\n"
    }
}
