internal import CBatchVerify

/// The batch code's verdict on a signature.
package enum BatchVerdict: Equatable {
    case refused, valid
    /// An addition met one of its exceptions: OpenSSL decides.
    case undecided

    init(_ byte: UInt8) {
        switch Int(byte) {
        case CBV_VALID: self = .valid
        case CBV_REFUSED: self = .refused
        default: self = .undecided
        }
    }
}
