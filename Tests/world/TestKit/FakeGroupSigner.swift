package import Crypto
internal import Synchronization

/// Stands for a library that signs eight digests at once: OpenSSL in its place, which can be made to fail.
package final class FakeGroupSigner: GroupSigner {
    package enum Fault: Sendable, CaseIterable {
        /// One signature has a wrong bit.
        case wrongBit
        /// Two signatures stand in each other's places.
        case swapped
        /// An error instead of signatures.
        case refusal
        /// A signature is missing.
        case tooFew
        /// A signature lacks its last byte.
        case tooShort
    }

    package let name = "fake 2.0.0"
    private let fault: Fault
    /// Groups that are signed rightly before the fault.
    private let healthy: Int
    private let place: Int
    private let kinds: Set<SigningKey.Kind>
    private let groups = Atomic<Int>(0)

    /// A key's test takes eight groups.
    package static let testGroups = 8

    /// - Parameter place: where the fault is, 0 to 7.
    package init(
        _ fault: Fault = .wrongBit,
        after healthy: Int = .max,
        place: Int = 0,
        kinds: Set<SigningKey.Kind> = [.rsa, .p256]
    ) {
        (self.fault, self.healthy, self.place, self.kinds) = (fault, healthy, place, kinds)
    }

    /// How many groups it has signed.
    package var groupCount: Int { groups.load(ordering: .relaxed) }

    package func canSign(with key: SigningKey) -> Bool { kinds.contains(key.kind) }

    package func sign(_ digests: [Digest], with key: SigningKey) -> [[UInt8]]? {
        precondition(digests.count == GroupSize.group, "a group is full")
        var signatures = digests.map { key.sign($0) }
        guard groups.add(1, ordering: .relaxed).oldValue >= healthy else { return signatures }
        switch fault {
        case .wrongBit: signatures[place][7] ^= 1
        case .swapped: signatures.swapAt(place, (place + 1) % GroupSize.group)
        case .refusal: return nil
        case .tooFew: signatures.remove(at: place)
        case .tooShort: signatures[place].removeLast()
        }
        return signatures
    }
}
