internal import COpenSSL

/// The libraries in this process.
package enum CryptoVersion {
    /// OpenSSL's version as loaded: `3.0.17`.
    package static var openSSL: String {
        // A static text of the library.
        unsafe OpenSSL_version(OPENSSL_VERSION_STRING).map { unsafe String(cString: $0) } ?? ""
    }
}
