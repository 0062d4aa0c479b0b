internal import CMicrohttpd
internal import Threads

/// The open connections: it ends those that take too long, and the longest idle ones where others need the room.
///
/// Time is counted in ticks of the sweep.
final class ConnectionTable: Sendable {
    private struct Table {
        var tick: UInt64 = 0
        var open: [ObjectIdentifier: HTTPConnection] = [:]
        /// The connections that wait, the longest first, with their turns; some have gone on since.
        var idle = ArraySlice<(connection: HTTPConnection, turn: UInt64)>()
        var (accepted, timedOut) = (0, 0)
    }

    private let table = Locked(Table())
    /// More open connections than this, and idle ones are ended.
    private let most: Int
    private let deadlineTicks: UInt64

    init(connections: Int, deadlineTicks: UInt64) {
        (most, self.deadlineTicks) = (connections - connections / 8, deadlineTicks)
    }

    /// Fills in what is counted of connections.
    func fill(_ counts: inout HTTPCallCounts) {
        table.withLock { table in
            (counts.connections, counts.openConnections) = (table.accepted, table.open.count)
            counts.timedOut = table.timedOut
        }
    }

    func opened(_ descriptor: Int32) -> HTTPConnection {
        table.withLock { table in
            let connection = HTTPConnection(descriptor, tick: table.tick)
            table.open[ObjectIdentifier(connection)] = connection
            table.accepted += 1
            if table.open.count > most { Self.evict(&table) }
            Self.note(connection, in: &table)
            return connection
        }
    }

    /// Takes out a connection before its descriptor is closed.
    ///
    /// - Returns: whether what came was not a request.
    func closed(_ connection: HTTPConnection) -> Bool {
        table.withLock { table in
            let wasUnreadable = connection.wasUnreadable
            connection.isClosed = true
            table.open[ObjectIdentifier(connection)] = nil
            return wasUnreadable
        }
    }

    /// Ends them all, whatever they do.
    func cutAll() { table.withLock { table in for connection in table.open.values { connection.cut() } } }

    /// Lets a connection enter a phase, unless it is in it: the sweep may have seen a request's first bytes before.
    func enter(_ connection: HTTPConnection, _ phase: HTTPConnection.Phase) {
        table.withLock { table in if connection.phase != phase { connection.enter(phase, at: table.tick) } }
    }

    func rests(_ connection: HTTPConnection) {
        table.withLock { table in
            guard !connection.isClosed else { return }
            connection.enter(.waiting, at: table.tick)
            connection.hasBeenServed = true
            connection.received = CMicrohttpd_look(connection.descriptor).received
            Self.note(connection, in: &table)
        }
    }

    /// - Parameter ticks: since the last sweep.
    func sweep(ticks: UInt64) {
        let connections = table.withLock { table in
            table.tick += ticks
            return Array(table.open.values)
        }
        // The server's thread gets its turn in between.
        for start in stride(from: 0, to: connections.count, by: 256) {
            table.withLock { table in
                for connection in connections[start..<min(start + 256, connections.count)] {
                    sweep(connection, &table)
                }
            }
        }
    }

    private func sweep(_ connection: HTTPConnection, _ table: inout Table) {
        guard !connection.isClosed, connection.phase != .handed else { return }
        let socket = CMicrohttpd_look(connection.descriptor)
        // The library misses the end of a client that comes together with a request, and would wait for the next one.
        if socket.isLeft != 0, connection.phase != .sending {
            if connection.turnLeft == connection.turn { return connection.cut() }
            // What has just come with it is read first.
            return connection.turnLeft = connection.turn
        }
        if connection.phase == .waiting {
            if socket.received > connection.received { return connection.enter(.reading, at: table.tick) }
            if connection.hasBeenServed { return }
        }
        guard table.tick - connection.since >= deadlineTicks else { return }
        table.timedOut += 1
        connection.cut()
    }

    private static func note(_ connection: HTTPConnection, in table: inout Table) {
        // Most notes are of the past once there are twice as many as connections.
        if table.idle.count > 2 * table.open.count + 1_024 {
            table.idle = ArraySlice(table.idle.filter(Self.isCurrent))
        }
        table.idle.append((connection, connection.turn))
    }

    private static func isCurrent(_ note: (connection: HTTPConnection, turn: UInt64)) -> Bool {
        note.connection.turn == note.turn && !note.connection.isClosed
    }

    private static func evict(_ table: inout Table) {
        while let oldest = table.idle.popFirst() {
            guard isCurrent(oldest) else { continue }
            if oldest.connection.hasBegun {
                oldest.connection.enter(.reading, at: table.tick)
                continue
            }
            return oldest.connection.cut()
        }
    }
}
