internal import CCurl

/// One call and its handle. The callbacks run inside of the client's poll.
@safe final class Transfer {
    let tag: UInt64
    let easy: UnsafeMutableRawPointer
    private let options: ClientOptions
    private let request: [UInt8]
    private var sent = 0
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var headers: [(name: String, value: [UInt8])] = []
    private var body: [UInt8] = []
    /// All bytes of headers so far, those of interim answers included.
    private var headerBytes = 0
    private var excess: Excess?

    /// What an answer has more of than it may.
    private enum Excess { case headers, body }

    /// The most bytes of header lines that an answer may have, interim answers and trailers included.
    static let mostHeaderBytes = 64 << 10

    /// - Throws: ``ClientFailure`` for a call that cannot be made.
    init(_ call: ClientCall, _ options: ClientOptions) throws(ClientFailure) {
        guard call.isSendable else {
            throw ClientFailure(kind: .invalid, description: "a URL or header has a line break or another control byte")
        }
        guard let easy = unsafe curl_easy_init() else {
            throw ClientFailure(kind: .invalid, description: "libcurl has no memory left")
        }
        (tag, self.options, request) = (call.tag, options, call.body)
        unsafe self.easy = unsafe easy
        try configure(call)
    }

    deinit {
        unsafe curl_easy_cleanup(easy)
        unsafe curl_slist_free_all(headerList)
    }

    /// The handle as a number, to be found by.
    var number: UInt { unsafe UInt(bitPattern: easy) }

    var connectionsMade: Int { unsafe CCurl_number(easy, CURLINFO_NUM_CONNECTS) }

    func ending(_ code: CURLcode) -> ClientEnding {
        let microseconds = unsafe CCurl_size(easy, CURLINFO_TOTAL_TIME_T)
        let status = unsafe CCurl_number(easy, CURLINFO_RESPONSE_CODE)
        let isCut = excess == .body && options.cutsBodies
        let outcome: ClientEnding.Outcome =
            if status > 0, code == CURLE_OK || isCut {
                .answered(ClientAnswer(status: status, headers: headers, body: body))
            } else {
                .failed(failure(code))
            }
        return ClientEnding(tag: tag, outcome: outcome, microseconds: Int64(microseconds))
    }

    private func failure(_ code: CURLcode) -> ClientFailure {
        switch excess {
        case .headers: .tooLarge("the answer's headers are", Self.mostHeaderBytes)
        case .body: .tooLarge("the answer is", options.mostBodyBytes)
        case nil: ClientFailure(code)
        }
    }

    // MARK: Options

    private func configure(_ call: ClientCall) throws(ClientFailure) {
        try set(CURLOPT_URL, call.url)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_NOSIGNAL, 1)
        try set(CURLOPT_FOLLOWLOCATION, 0)
        // No variable of the environment names a proxy, or a host that needs none.
        try set(CURLOPT_PROXY, options.proxy ?? "")
        try set(CURLOPT_NOPROXY, "")
        try set(CURLOPT_HTTPPROXYTUNNEL, options.proxy == nil ? 0 : 1)
        // The proxy gets none of the call's own headers, and its own are not the answer's.
        try set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        try set(CURLOPT_CONNECTTIMEOUT_MS, options.connectMilliseconds)
        try set(CURLOPT_TIMEOUT_MS, options.totalMilliseconds)
        if let authorities = options.authorities {
            try set(CURLOPT_CAINFO, authorities)
            // The library's own folder of certificates would be trusted as well.
            try check(unsafe CCurl_setText(easy, CURLOPT_CAPATH, nil))
        }
        if call.method == .post {
            try set(CURLOPT_POST, 1)
            try set(CURLOPT_POSTFIELDSIZE, request.count)
        }
        try setHeaders(call)
        // Unretained: this object owns the handle, and the callbacks end with it.
        try check(
            unsafe CCurl_setCallbacks(
                easy,
                Self.bodyCallback,
                Self.headerCallback,
                Self.uploadCallback,
                Unmanaged.passUnretained(self).toOpaque()
            )
        )
    }

    private func setHeaders(_ call: ClientCall) throws(ClientFailure) {
        // The library would add a content type, and ask before a long body. A header without a value is not sent.
        var lines = ["Expect:"]
        if !call.headers.contains(where: { $0.name.lowercased() == "content-type" }) { lines.append("Content-Type:") }
        // A semicolon makes libcurl send a header with an empty value.
        lines += call.headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        for line in lines {
            // The library copies the line, and the old list stays valid where it cannot.
            guard let longer = unsafe curl_slist_append(headerList, line) else {
                throw ClientFailure(kind: .invalid, description: "libcurl has no memory left")
            }
            unsafe headerList = longer
        }
        try check(unsafe CCurl_setHeaders(easy, headerList))
    }

    private func set(_ option: CURLoption, _ value: Int) throws(ClientFailure) {
        try check(unsafe CCurl_setNumber(easy, option, value))
    }

    private func set(_ option: CURLoption, _ text: String) throws(ClientFailure) {
        try check(unsafe CCurl_setText(easy, option, text))
    }

    private func check(_ code: CURLcode) throws(ClientFailure) {
        guard code == CURLE_OK else { throw ClientFailure(code) }
    }
}

// MARK: - Callbacks

extension Transfer {
    private static func of(_ context: UnsafeMutableRawPointer?) -> Transfer? {
        unsafe context.map { unsafe Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Bytes of the library's that are valid during a callback.
    private static func bytes(_ start: UnsafeMutablePointer<CChar>?, _ count: Int) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: start, count: count)
    }

    private static var bodyCallback: curl_write_callback {
        { start, size, count, context in
            unsafe Transfer.of(context)?.take(body: Transfer.bytes(start, size * count)) == true ? size * count : 0
        }
    }

    private static var headerCallback: curl_write_callback {
        { start, size, count, context in
            unsafe Transfer.of(context)?.take(line: Transfer.bytes(start, size * count)) == true ? size * count : 0
        }
    }

    private static var uploadCallback: curl_read_callback {
        { start, size, count, context in
            unsafe Transfer.of(context)?.fill(UnsafeMutableRawBufferPointer(start: start, count: size * count)) ?? 0
        }
    }

    /// - Returns: false for more than the call may have.
    private func take(body bytes: UnsafeRawBufferPointer) -> Bool {
        let room = options.mostBodyBytes - body.count
        guard bytes.count <= room else {
            excess = .body
            if options.cutsBodies { unsafe body.append(contentsOf: bytes.prefix(room)) }
            return false
        }
        unsafe body.append(contentsOf: bytes)
        return true
    }

    /// - Returns: false for more than the call may have.
    private func take(line bytes: UnsafeRawBufferPointer) -> Bool {
        headerBytes += bytes.count
        guard headerBytes <= Self.mostHeaderBytes else {
            excess = .headers
            return false
        }
        unsafe keep(line: bytes)
        return true
    }

    private func keep(line bytes: UnsafeRawBufferPointer) {
        // An interim answer, such as 100, has headers too.
        if unsafe bytes.starts(with: "HTTP/".utf8) { headers = [] }
        guard let colon = unsafe bytes.firstIndex(of: UInt8(ascii: ":")) else { return }
        let name = unsafe String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        guard options.headers?.contains(name) ?? true else { return }
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A }
        var value = unsafe Array(bytes[(colon + 1)...].drop(while: isBlank))
        while value.last.map(isBlank) == true { value.removeLast() }
        headers.append((name, value))
    }

    /// The next part of the request's body. The library has no way back to its beginning, so it cannot send it twice.
    private func fill(_ room: UnsafeMutableRawBufferPointer) -> Int {
        precondition(sent <= request.count, "the library takes what it was given")
        let count = min(room.count, request.count - sent)
        unsafe room.copyBytes(from: request[sent..<sent + count])
        sent += count
        return count
    }
}

extension ClientFailure {
    init(_ code: CURLcode) {
        // A static text.
        let text = unsafe String(cString: curl_easy_strerror(code))
        self.init(kind: Self.kind(code), description: text)
    }

    init(_ code: CURLMcode) {
        // A static text.
        self.init(kind: .invalid, description: unsafe String(cString: curl_multi_strerror(code)))
    }

    static func tooLarge(_ what: String, _ bytes: Int) -> ClientFailure {
        ClientFailure(kind: .tooLarge, description: "\(what) larger than \(bytes) bytes")
    }

    private static func kind(_ code: CURLcode) -> Kind {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT, CURLE_SSL_CONNECT_ERROR,
            CURLE_PEER_FAILED_VERIFICATION,
            CURLE_SSL_CACERT_BADFILE:
            .unconnected
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL, CURLE_OUT_OF_MEMORY, CURLE_BAD_FUNCTION_ARGUMENT:
            .invalid
        default: .broken
        }
    }
}
