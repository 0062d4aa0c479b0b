internal import Glibc

/// The system's texts for its error numbers.
package enum POSIXText {
    package static func describe(_ code: Int32) -> String {
        // A static string of the library, copied at once.
        unsafe String(cString: strerror(code))
    }
}
