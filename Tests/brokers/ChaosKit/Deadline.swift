internal import Crypto
internal import Foundation

/// Figures such as "within 15 s". They are of an idle machine of the reference's speed: the time that has passed is
/// divided by how much slower this machine is at the moment.
package enum Deadline {
    /// Looks every few milliseconds. - Returns: false when it did not come true in time.
    package static func wait(_ seconds: Int, until condition: () throws -> Bool) rethrows -> Bool {
        let start = ContinuousClock.now
        while try !condition() {
            let passed = ContinuousClock.now - start
            // Measured only where it decides.
            if passed > .seconds(seconds), !isWithin(.seconds(seconds), passed) { return false }
            usleep(20_000)
        }
        return true
    }

    /// Whether a time would have been within a limit on the reference machine.
    package static func isWithin(_ limit: Duration, _ passed: Duration) -> Bool {
        passed <= limit || passed / slowness() <= limit
    }

    /// How many times as long as on the reference machine a fixed computation takes now; at least 1.
    package static func slowness() -> Double {
        guard let key = try? SigningKey.generate(.p256) else { return 1 }
        let digest = SHA256.hash([])
        let time = ContinuousClock().measure { for _ in 0..<12_000 { _ = key.sign(digest) } }
        return max(1, time / referenceTime)
    }

    /// OpenSSL on an EPYC of 2024 without load.
    private static let referenceTime = Duration.milliseconds(200)
}
