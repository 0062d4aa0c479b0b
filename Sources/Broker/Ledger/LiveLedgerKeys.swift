internal import Crypto

/// The keys of one ledger partition that have a value, of every kind, as written in the topic.
struct LiveLedgerKeys {
    /// The keys of 33 bytes, nearly all, by their type byte.
    private var digests: [UInt8: Set<Digest>] = [:]
    private var others: Set<[UInt8]> = []

    var count: Int { digests.values.reduce(others.count) { $0 + $1.count } }

    mutating func note(_ key: [UInt8], isLive: Bool) {
        if let kind = key.first, let digest = Digest(Array(key.dropFirst())) {
            if isLive { digests[kind, default: []].insert(digest) } else { digests[kind]?.remove(digest) }
        } else {
            if isLive { others.insert(key) } else { others.remove(key) }
        }
    }

    /// Yields the keys one by one. Key records come last: as long as a key is there, so is its counter.
    func iterator() -> AnyIterator<[UInt8]> {
        let kinds = digests.sorted { $0.key > $1.key }
        let long = kinds.lazy.flatMap { kind, ids in ids.lazy.map { [kind] + $0.bytes } }
        var (short, rest) = (others.makeIterator(), long.makeIterator())
        return AnyIterator { short.next() ?? rest.next() }
    }
}
