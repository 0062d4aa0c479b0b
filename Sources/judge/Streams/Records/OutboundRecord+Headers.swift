/// Results, tokens and replies name the request that they answer, results and replies its status too. These headers repeat members of the
/// record and stand before the others, so that an output allocates nothing for them.
extension OutputTopic {
    /// Whether a header of its records names the request.
    package var namesRequest: Bool {
        switch self {
        case .results, .tokens, .replies: true
        case .events, .deadLetters, .ledger, .receipts: false
        }
    }
}

extension OutboundRecord {
    /// The value of the header `request-id`; nil where the record has no such header.
    package var namedRequestID: [UInt8]? { stream.namesRequest ? requestID : nil }

    /// The value of the header `status`, which is written as decimal text; nil where the record has no such header.
    package var namedStatus: Int? {
        switch stream {
        case .results, .replies: status
        case .tokens, .events, .deadLetters, .ledger, .receipts: nil
        }
    }

    /// All headers, in the order of the topic.
    package var headers: [RecordHeader] {
        var headers: [RecordHeader] = []
        headers.reserveCapacity(headerCount)
        eachHeader { headers.append(RecordHeader(name: $0, value: $1)) }
        return headers
    }

    package var headerCount: Int {
        (namedRequestID == nil ? 0 : 1) + (namedStatus == nil ? 0 : 1) + otherHeaders.count
    }

    /// The same headers without an array.
    package func eachHeader(_ body: (_ name: [UInt8], _ value: [UInt8]?) -> Void) {
        if let id = namedRequestID { body(Self.requestIDName, id) }
        if let status = namedStatus { body(Self.statusName, Self.text(status)) }
        for header in otherHeaders { body(header.name, header.value) }
    }

    private static let requestIDName = Array("request-id".utf8)
    private static let statusName = Array("status".utf8)

    /// A status has three digits and is one of few: their texts are made once.
    private static let texts = statuses.map { Array(String($0).utf8) }
    private static let statuses = 100...599

    private static func text(_ status: Int) -> [UInt8] {
        statuses.contains(status) ? texts[status - statuses.lowerBound] : Array(String(status).utf8)
    }

    /// The two lengths before a header's name and value on the wire, five bytes each at most.
    private static let headerOverhead = 10

    /// Key, value and headers together, in bytes: the broker's count or a few more.
    package var byteCount: Int {
        var count = (key?.count ?? 0) + (value?.count ?? 0)
        if let id = namedRequestID { count += Self.requestIDName.count + id.count + Self.headerOverhead }
        if namedStatus != nil { count += Self.statusName.count + Self.statusDigits + Self.headerOverhead }
        for index in otherHeaders.indices {
            count += otherHeaders[index].name.count + (otherHeaders[index].value?.count ?? 0) + Self.headerOverhead
        }
        return count
    }

    private static let statusDigits = 3
}
