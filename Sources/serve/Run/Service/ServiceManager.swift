internal import Dispatch
internal import Glibc
internal import Settings
internal import Threads

/// The service manager above this process: systemd, or what speaks its protocol (`sd_notify(3)`).
///
/// Each message is a datagram of lines to the socket that `$NOTIFY_SOCKET` names.
package struct ServiceManager: Sendable {
    enum Message: String {
        case ready = "READY=1"
        case stopping = "STOPPING=1"
        case alive = "WATCHDOG=1"
    }

    /// A manager that takes nothing may delay a message so long.
    private static let sendSeconds = 1
    /// A manager that waits for eleven days watches nothing.
    private static let mostMicroseconds: Int64 = 1_000_000_000_000

    /// A path, or a name of the abstract kind that begins with `@`; nil where no manager listens.
    let socket: String?
    /// The manager ends a process that has said nothing for so long; nil where it does not.
    let watchdog: Duration?

    /// - Parameters:
    ///   - environment: `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`, where they are set.
    ///   - process: this one's number: the watchdog may be meant for another one.
    init(_ environment: [String: String], process: Int32) {
        socket = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
        let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        let isMeant = environment["WATCHDOG_PID"].map { Int32($0) == process } ?? true
        watchdog =
            isMeant && (1...Self.mostMicroseconds).contains(microseconds) && socket != nil
            ? .microseconds(microseconds) : nil
    }

    static var ofProcess: ServiceManager {
        let variables = Variables.values("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")
        return ServiceManager(variables, process: getpid())
    }

    /// Sends the message; does nothing where no manager listens.
    ///
    /// - Parameter status: a line for people, which `systemctl status` shows.
    /// - Returns: whether the manager's socket took it.
    @discardableResult
    func say(_ message: Message, status: String? = nil) -> Bool {
        guard let socket, let (address, length) = Self.address(of: socket) else { return false }
        let file = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard file >= 0 else { return false }
        defer { close(file) }
        var limit = timeval(tv_sec: Self.sendSeconds, tv_usec: 0)
        // Limit, address and bytes live on this stack, and the calls do not keep them.
        unsafe setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let bytes = Array((message.rawValue + (status.map { "\nSTATUS=\($0.oneLine)" } ?? "")).utf8)
        let sent = unsafe withUnsafePointer(to: address) { place in
            unsafe place.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe sendto(file, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
        return sent == bytes.count
    }

    /// - Returns: nil for a name that is neither absolute nor abstract, or too long for an address.
    static func address(of socket: String) -> (sockaddr_un, socklen_t)? {
        var name = Array(socket.utf8)
        guard let first = name.first, first == UInt8(ascii: "/") || first == UInt8(ascii: "@"), name.count > 1
        else { return nil }
        // An abstract name begins with a zero, and its length says where it ends.
        if first == UInt8(ascii: "@") { name[0] = 0 }
        var address = sockaddr_un()
        guard name.count < MemoryLayout.size(ofValue: address.sun_path),
            let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path)
        else { return nil }
        address.sun_family = sa_family_t(AF_UNIX)
        // The name is shorter than the path's bytes.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        return (address, socklen_t(offset + name.count))
    }
}

/// Tells the service manager that the worker lives, as long as its threads show life; on a separate queue.
final class WatchdogFeed {
    /// A late message or two must not end the process.
    private static let perPeriod = 3

    private let timer: any DispatchSourceTimer

    /// - Parameters:
    ///   - silence: how long the quietest thread has shown no life.
    ///   - most: with this much silence the manager hears nothing more, and ends the process.
    /// - Returns: nil where the manager watches nothing.
    init?(_ manager: ServiceManager, silence: @escaping @Sendable () -> Duration, most: Duration) {
        guard let period = manager.watchdog else { return nil }
        let (seconds, attoseconds) = period.components
        let pause = max(1_000_000, Int(seconds * 1_000_000_000 + attoseconds / 1_000_000_000) / Self.perPeriod)
        timer = DispatchSource.makeTimerSource(queue: DispatchQueue(owner: "watchdog"))
        timer.schedule(deadline: .now(), repeating: .nanoseconds(pause))
        timer.setEventHandler { if silence() < most { manager.say(.alive) } }
        timer.activate()
    }

    deinit { timer.cancel() }
}
