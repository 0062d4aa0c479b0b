internal import CBatchVerify

/// Verifies signatures in groups with our own arithmetic; OpenSSL decides what that leaves open, and judges a sample.
package final class BatchEngine: SignatureEngine {
    private let arithmetic: BatchArithmetic
    private let watch: EngineWatch
    private let openSSL = OpenSSLEngine()
    private let p256: P256Group
    /// The places of the group's signatures among the checks.
    private var places: [Int] = []
    private let tables: P384Tables
    private let p384 = P384Group()
    /// The key that signed all of the P-384 group.
    private var issuer: P384Table?
    private var leafPlaces: [Int] = []
    /// The number of the last check whose answer might have been compared.
    private var checkNumber: UInt64 = 0

    /// - Parameters:
    ///   - points: of keys in use; engines may share it.
    ///   - tables: an issuer without one there is OpenSSL's.
    /// - Precondition: this machine has what `arithmetic` needs.
    package init(
        _ arithmetic: BatchArithmetic,
        watch: EngineWatch,
        points: KeyPointCache = KeyPointCache(byteCount: 1 << 20),
        tables: P384Tables = .shared
    ) {
        precondition(arithmetic != .ifma || BatchArithmetic.featureMissingForIFMA == nil, "IFMA can be used")
        (self.arithmetic, self.watch, self.tables) = (arithmetic, watch, tables)
        p256 = P256Group(points)
        leafPlaces.reserveCapacity(P384Group.most)
        places.reserveCapacity(P256Group.most)
    }

    package func verify(_ checks: [SignatureCheck]) -> [Bool] {
        var answers = SignatureAnswers()
        verify(checks, into: &answers)
        return answers.isValid
    }

    package func verify(_ checks: [SignatureCheck], into answers: inout SignatureAnswers) {
        guard !watch.isStopped else { return openSSL.verify(checks, into: &answers) }
        answers.begin(count: checks.count)
        for place in checks.indices {
            switch checks[place] {
            case .p256(let key, let digest, let signature):
                p256.append(key, digest, signature)
                places.append(place)
                if p256.count == P256Group.most { finishP256(checks, &answers) }
            case .p384(let key, let digest, let der):
                guard let table = tables.table(of: key) else {
                    answers.isValid[place] = openSSL.isValid(checks[place])
                    continue
                }
                if table !== issuer || p384.count == P384Group.most { finishP384(checks, &answers) }
                issuer = table
                if p384.append(P384Number(digest), der) { leafPlaces.append(place) }
            }
        }
        finishP256(checks, &answers)
        finishP384(checks, &answers)
        compare(checks, &answers)
    }

    private func finishP256(_ checks: [SignatureCheck], _ answers: inout SignatureAnswers) {
        p256.verify(by: arithmetic) { place, verdict in
            answers.isValid[places[place]] = isValid(verdict, checks[places[place]])
        }
        p256.removeAll()
        places.removeAll(keepingCapacity: true)
    }

    private func finishP384(_ checks: [SignatureCheck], _ answers: inout SignatureAnswers) {
        guard let issuer else { return }
        p384.verify(issuer, by: arithmetic) { place, verdict in
            answers.isValid[leafPlaces[place]] = isValid(verdict, checks[leafPlaces[place]])
        }
        p384.removeAll()
        leafPlaces.removeAll(keepingCapacity: true)
        self.issuer = nil
    }

    private func isValid(_ verdict: BatchVerdict, _ check: SignatureCheck) -> Bool {
        switch verdict {
        case .refused: return false
        case .valid: return true
        case .undecided:
            watch.noteUndecided()
            return openSSL.isValid(check)
        }
    }

    /// Compares a sample with OpenSSL. If one answer differs, none of the group counts; the loop takes care of the
    /// groups before it.
    private func compare(_ checks: [SignatureCheck], _ answers: inout SignatureAnswers) {
        for place in checks.indices {
            checkNumber &+= 1
            guard watch.samples(checks[place], number: checkNumber) else { continue }
            watch.noteCompared()
            guard openSSL.isValid(checks[place]) != answers.isValid[place] else { continue }
            watch.stop(checks[place], answered: answers.isValid[place])
            return openSSL.verify(checks, into: &answers)
        }
        // Another lane may have found the engine wrong meanwhile.
        if watch.isStopped { openSSL.verify(checks, into: &answers) }
    }
}

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

/// How signatures are computed in groups: eight at once with AVX-512 IFMA, or in step on any processor.
package enum BatchArithmetic: String, Sendable, CaseIterable {
    case ifma = "ifma"
    case portable

    /// The feature that this processor or system lacks for `ifma`; nil = it can be used.
    package static var featureMissingForIFMA: String? {
        // A constant of the program, or NULL.
        unsafe cbv_missing_feature().map { unsafe String(cString: $0) }
    }

    /// Makes the generator's tables, once in the process: 475 KB, and 262 KB for IFMA.
    static func prepareP256() { prepared }

    private static let prepared: Void = cbv_p256_prepare()

    /// One signature alone leaves a vector of eight empty.
    func suited(to count: Int) -> BatchArithmetic { count > 1 ? self : .portable }
}
