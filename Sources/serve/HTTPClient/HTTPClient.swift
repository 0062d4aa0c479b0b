internal import CCurl
internal import Threads

/// HTTP and HTTPS calls, thousands at a time, over connections that are used again.
///
/// No redirect is followed, no proxy that the options do not name and no cookie is used, and a call whose body has begun to leave is never sent a
/// second time.
@safe package final class HTTPClient {
    private var owner = Owner("HTTPClient")
    private let options: ClientOptions
    private let multi: UnsafeMutableRawPointer
    private let sockets: SocketPoller
    /// The transfers by their handles.
    private var transfers: [UInt: Transfer] = [:]
    private var handles: [UInt64: UInt] = [:]
    /// Calls that ended before they began.
    private var stillborn: [ClientEnding] = []
    package private(set) var connectionsMade = 0

    /// The library's own state, which lasts as long as the process: made once, whichever thread comes first.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    /// Rounds of events in one poll, so that a busy client comes back to its caller.
    private static let mostRounds = 64

    /// - Throws: ``ClientFailure`` where the process has no descriptors or memory left.
    package init(_ options: ClientOptions = ClientOptions()) throws(ClientFailure) {
        guard Self.isReady, let multi = unsafe curl_multi_init() else {
            throw ClientFailure(kind: .invalid, description: "libcurl cannot start")
        }
        self.options = options
        unsafe self.multi = unsafe multi
        do throws(ClientFailure) { sockets = try SocketPoller() } catch {
            unsafe curl_multi_cleanup(multi)
            throw error
        }
        let connections = max(1, options.connections)
        _ = unsafe CCurl_setMultiNumber(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections)
        // Idle ones are kept for the next call.
        _ = unsafe CCurl_setMultiNumber(multi, CURLMOPT_MAXCONNECTS, connections)
        unsafe sockets.register(in: multi)
    }

    deinit {
        for transfer in transfers.values { unsafe curl_multi_remove_handle(multi, transfer.easy) }
        transfers = [:]
        // Closes connections: the poller is still there.
        unsafe curl_multi_cleanup(multi)
    }

    /// Calls that have not ended.
    package var openCalls: Int { transfers.count + stillborn.count }

    /// Begins a call; ``poll(milliseconds:)`` reports what is wrong with it.
    package func enqueue(_ call: ClientCall) {
        owner.check()
        do throws(ClientFailure) {
            let transfer = try Transfer(call, options)
            let code = unsafe curl_multi_add_handle(multi, transfer.easy)
            guard code == CURLM_OK else { throw ClientFailure(code) }
            transfers[transfer.number] = transfer
            handles[call.tag] = transfer.number
        } catch { stillborn.append(ClientEnding(tag: call.tag, outcome: .failed(error), microseconds: 0)) }
    }

    /// Ends a call without an answer; its connection is closed.
    package func cancel(_ tag: UInt64) {
        owner.check()
        stillborn.removeAll { $0.tag == tag }
        if let number = handles[tag] { remove(number) }
    }

    /// The calls that have ended.
    ///
    /// - Parameter milliseconds: how long to wait for something to happen; calls that have ended are not waited for.
    package func poll(milliseconds: Int) -> [ClientEnding] {
        owner.check()
        var ended = stillborn
        stillborn = []
        collect(&ended)
        var wait = ended.isEmpty ? milliseconds : 0
        for _ in 0..<Self.mostRounds {
            guard unsafe sockets.step(multi, milliseconds: wait) else { break }
            wait = 0
        }
        collect(&ended)
        return ended
    }

    private func collect(_ ended: inout [ClientEnding]) {
        var code = CURLE_OK
        while let easy = unsafe CCurl_nextEnded(multi, &code) {
            let number = UInt(bitPattern: easy)
            guard let transfer = transfers[number] else { continue }
            connectionsMade += transfer.connectionsMade
            ended.append(transfer.ending(code))
            remove(number)
        }
    }

    private func remove(_ number: UInt) {
        guard let transfer = transfers.removeValue(forKey: number) else { return }
        handles[transfer.tag] = nil
        // The handle belongs to this multi handle, and ends with its transfer after this line.
        unsafe curl_multi_remove_handle(multi, transfer.easy)
    }
}
