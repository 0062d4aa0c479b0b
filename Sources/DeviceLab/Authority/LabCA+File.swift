internal import Crypto
internal import JSON

/// The file with which a later run signs as the same authority.
extension LabCA {
    /// `{"labAuthority": 1, "secret": base64}` and a line end.
    package var exported: [UInt8] {
        var writer = JSONWriter(capacity: 96)
        writer.beginObject()
        writer.key("labAuthority")
        writer.value(1)
        writer.key("secret")
        writer.base64(secret)
        writer.endObject()
        return writer.bytes + [0x0A]
    }

    /// - Throws: ``LabCAFault`` unless `file` is an output of ``exported``.
    package convenience init(exported file: [UInt8], signer: any LabSigner = ECDSASigner()) throws(LabCAFault) {
        guard let document = try? JSONDocument(parsing: file), document.root["labAuthority"]?.integer == 1,
            let text = document.root["secret"]?.stringBytes, let bytes = Base64.decode(text),
            let secret = Digest(bytes)
        else { throw LabCAFault.unreadable }
        self.init(secret: secret, signer: signer)
    }
}

package enum LabCAFault: Error, Equatable, Sendable { case unreadable }
