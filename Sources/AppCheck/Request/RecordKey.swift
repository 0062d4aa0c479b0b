package import AppAttest
internal import Crypto
internal import JSON

extension KeyID {
    /// The key ID as a record's key: Apple's text, 44 characters of standard base64, padded.
    package var recordKey: [UInt8] { digest.withBytes { Base64.encode($0) } }

    /// - Returns: nil unless `recordKey` is exactly the text of ``recordKey``: any other spelling of the same bytes
    ///   would be on another partition.
    package init?(recordKey: [UInt8]) {
        guard recordKey.count == 44, recordKey.last == UInt8(ascii: "="),
            !recordKey.contains(where: { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }),
            let bytes = Base64.decode(recordKey)
        else { return nil }
        self.init(bytes.span)
    }
}
