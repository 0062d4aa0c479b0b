package import AppAttest
internal import Crypto
internal import JSON

extension KeyID {
    /// The key ID as a record's key: Apple's text, 44 characters of standard base64, padded.
    package var recordKey: [UInt8] { digest.withBytes { Base64.encode($0) } }

    /// - Returns: nil unless `recordKey` is exactly the text of ``recordKey``: any other spelling of the same bytes
    ///   would be on another partition.
    package init?(recordKey: [UInt8]) { self.init(recordKey: recordKey.span) }

    init?(recordKey: Span<UInt8>) {
        guard recordKey.count == 44, recordKey[43] == UInt8(ascii: "=") else { return nil }
        var bytes = InlineArray<32, UInt8>(repeating: 0)
        var target = bytes.mutableSpan
        guard Base64.decodeStandard(recordKey, filling: &target) else { return nil }
        self.init(bytes.span)
    }
}
