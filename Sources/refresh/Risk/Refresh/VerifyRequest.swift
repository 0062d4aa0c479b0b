internal import AppAttest
internal import Crypto
internal import JSON

/// A request `verifyReceipt`, as the requests topic takes it.
package struct VerifyRequest: Sendable, Equatable {
    /// The number of its call.
    package let number: UInt
    /// The partition of the receipt that was sent: requests and receipts of a key have the same number.
    package let partition: Int32
    package let key: [UInt8]
    package let value: [UInt8]
    /// The value of the header `request-id`: SHA-256 of the new receipt in hexadecimal digits, so that the same receipt
    /// is the same request.
    package let requestID: [UInt8]

    init(_ number: UInt, _ sent: HeldReceipt, received: [UInt8], partition: Int32) {
        (self.number, self.partition, key) = (number, partition, sent.key)
        var body = JSONWriter(capacity: received.count * 4 / 3 + 128)
        body.beginObject()
        body.member("keyId", validUTF8: sent.key)
        body.member("receipt", base64: received)
        body.member("exchanged", sent.dates.createdAt.milliseconds)
        body.endObject()
        var json = JSONWriter(capacity: received.count * 4 / 3 + 256)
        json.beginObject()
        json.member("path", "v1/\(sent.app):verifyReceipt")
        json.member("body", raw: body.takeBytes())
        json.endObject()
        value = json.takeBytes()
        requestID = Array(Hexadecimal.encode(SHA256.hash(received).bytes).utf8)
    }
}
