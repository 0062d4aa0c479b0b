package import Crypto

extension LabCA {
    /// Whether a certificate is a root of some lab authority: whoever has that authority's file, or guesses its seed, makes
    /// devices that pass under it.
    package static func isRoot(_ certificate: CACertificate) -> Bool {
        certificate.subject == LabName.root || certificate.subject == LabName.receiptRoot
    }
}
