internal import AppAttest

/// A record of the receipts topic, whichever line visits it.
package struct ReceiptPlace: Hashable, Sendable {
    package let partition: Int32
    package let offset: Int64

    package init(partition: Int32, offset: Int64) { (self.partition, self.offset) = (partition, offset) }
}

/// What Apple's answers say of a team's key at one host. An answer 401 does not tell whose fault it is: a revoked key
/// and a receipt of another team look alike. The calls around it tell.
///
/// - Where the last word before it was an acceptance, the fault seems the receipt's. Such refusals of one receipt have
///   an acceptance between them, so that all but the last are the receipt's for certain: after
///   ``mostRefusalsOfReceipt`` its visit is over.
/// - Refusals of ``mostRefusedReceipts`` receipts without an acceptance between are the key's, or the team's. One
///   receipt alone, however often it comes, never says so.
/// - In every other case the fault is unknown, and the refresher keeps the visit.
struct KeyStanding {
    static let mostRefusalsOfReceipt = 3
    static let mostRefusedReceipts = 3

    enum Fault { case receipt, unknown, key }

    private var isAccepted = false
    /// Receipts that were refused since the last acceptance.
    private var refused: Set<ReceiptPlace> = []

    /// Apple has understood a call.
    mutating func accept() { (isAccepted, refused) = (true, []) }

    /// Apple has answered 401.
    mutating func refuse(_ receipt: ReceiptPlace) -> Fault {
        let isFirst = refused.isEmpty
        if refused.count < Self.mostRefusedReceipts { refused.insert(receipt) }
        if refused.count == Self.mostRefusedReceipts { return .key }
        return isFirst && isAccepted ? .receipt : .unknown
    }
}
