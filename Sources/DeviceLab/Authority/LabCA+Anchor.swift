package import Crypto

extension LabCA {
    /// Whether a certificate is a root of some lab authority: with that authority's file, or a guess of its seed,
    /// anybody can make devices that it accepts.
    package static func isRoot(_ certificate: CACertificate) -> Bool {
        certificate.subject == LabName.root || certificate.subject == LabName.receiptRoot
    }
}
