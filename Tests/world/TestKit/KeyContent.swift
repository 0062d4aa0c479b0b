/// Contents of key files. Named, so that no test prints a key.
package enum KeyContent: String, CaseIterable, Sendable {
    case rsa, p256, rsa1024, p384, encrypted, secret, twoSecrets, blankLine, raw, empty

    package var text: String {
        switch self {
        case .rsa: KeyText.rsa
        case .p256: KeyText.p256
        case .rsa1024: UnfitKeys.rsa1024
        case .p384: UnfitKeys.p384
        case .encrypted: UnfitKeys.encrypted
        case .secret: KeyText.secret(1)
        case .twoSecrets: KeyText.secret(7) + KeyText.secret(8)
        case .blankLine: KeyText.secret(7) + "\n"
        case .raw: "32 bytes of text, but not base64"
        case .empty: ""
        }
    }
}
