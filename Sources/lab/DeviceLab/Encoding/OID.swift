/// Object identifiers, encoded.
enum OID {
    static let commonName = DER.oid("2.5.4.3")
    static let country = DER.oid("2.5.4.6")
    static let state = DER.oid("2.5.4.8")
    static let organization = DER.oid("2.5.4.10")
    static let organizationalUnit = DER.oid("2.5.4.11")

    static let ecPublicKey = DER.oid("1.2.840.10045.2.1")
    static let p256 = DER.oid("1.2.840.10045.3.1.7")
    static let p384 = DER.oid("1.3.132.0.34")
    static let ecdsaSHA256 = DER.oid("1.2.840.10045.4.3.2")
    static let ecdsaSHA384 = DER.oid("1.2.840.10045.4.3.3")
    static let sha256 = DER.oid("2.16.840.1.101.3.4.2.1")

    static let subjectKeyID = DER.oid("2.5.29.14")
    static let keyUsage = DER.oid("2.5.29.15")
    static let basicConstraints = DER.oid("2.5.29.19")
    static let nameConstraints = DER.oid("2.5.29.30")
    static let certificatePolicies = DER.oid("2.5.29.32")
    static let authorityKeyID = DER.oid("2.5.29.35")
    static let extendedKeyUsage = DER.oid("2.5.29.37")
    static let authorityInformation = DER.oid("1.3.6.1.5.5.7.1.1")
    static let ocsp = DER.oid("1.3.6.1.5.5.7.48.1")
    static let userNotice = DER.oid("1.3.6.1.5.5.7.2.2")

    static let nonce = DER.oid("1.2.840.113635.100.8.2")
    static let keyProperties = DER.oid("1.2.840.113635.100.8.5")
    static let accessControl = DER.oid("1.2.840.113635.100.8.6")
    static let osInformation = DER.oid("1.2.840.113635.100.8.7")
    static let appAttestUsage = DER.oid("1.2.840.113635.100.4.24")
    static let policy = DER.oid("1.2.840.113635.100.5.1")
    static let integrationCA = DER.oid("1.2.840.113635.100.6.2.3")
    static let receiptSigning = DER.oid("1.2.840.113635.100.12.15")
    /// Means nothing to anyone.
    static let unknown = DER.oid("1.2.840.113635.100.99.99")

    static let signedData = DER.oid("1.2.840.113549.1.7.2")
    static let data = DER.oid("1.2.840.113549.1.7.1")
    static let envelopedData = DER.oid("1.2.840.113549.1.7.3")
    static let contentType = DER.oid("1.2.840.113549.1.9.3")
    static let messageDigest = DER.oid("1.2.840.113549.1.9.4")
}
