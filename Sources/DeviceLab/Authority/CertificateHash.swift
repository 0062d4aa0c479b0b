internal import Crypto

/// The hash that a certificate is signed over, with the algorithm's name in it.
enum CertificateHash {
    case sha256, sha384

    var algorithm: [UInt8] { DER.sequence(self == .sha256 ? OID.ecdsaSHA256 : OID.ecdsaSHA384) }

    func digest(_ bytes: [UInt8]) -> [UInt8] {
        self == .sha256 ? SHA256.hash(bytes).bytes : LabKey.sha384(bytes)
    }
}
