/// Verifies signatures in groups with our own arithmetic; OpenSSL decides what that leaves open, and judges a sample.
package final class BatchEngine: SignatureEngine {
    private let arithmetic: BatchArithmetic
    private let watch: EngineWatch
    private let openSSL = OpenSSLEngine()
    private let p256 = P256Group()
    /// Where the group's signatures stand among the checks.
    private var places: [Int] = []

    /// - Precondition: this machine has what `arithmetic` needs.
    package init(_ arithmetic: BatchArithmetic, watch: EngineWatch) {
        precondition(arithmetic != .lanes || BatchArithmetic.featureMissingForLanes == nil, "the lanes can be used")
        self.arithmetic = arithmetic
        self.watch = watch
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
            case .p256(let key, let digest, let signature, let second):
                p256.append(key, second, digest, signature)
                places.append(place)
                if p256.count == P256Group.most { finishP256(checks, &answers) }
            case .p384: answers.isValid[place] = openSSL.isValid(checks[place])
            }
        }
        finishP256(checks, &answers)
        compare(checks, &answers)
    }

    private func finishP256(_ checks: [SignatureCheck], _ answers: inout SignatureAnswers) {
        p256.computeSeconds(by: arithmetic) { place, second in answers.seconds.append((places[place], second)) }
        p256.verify(by: arithmetic) { place, verdict in
            answers.isValid[places[place]] = isValid(verdict, checks[places[place]])
        }
        p256.removeAll()
        places.removeAll(keepingCapacity: true)
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

    /// Compares a sample with OpenSSL. If one answer differs, none of the group counts.
    private func compare(_ checks: [SignatureCheck], _ answers: inout SignatureAnswers) {
        for place in checks.indices where watch.samples(checks[place]) {
            watch.noteCompared()
            guard openSSL.isValid(checks[place]) != answers.isValid[place] else { continue }
            watch.stop(checks[place], answered: answers.isValid[place])
            return openSSL.verify(checks, into: &answers)
        }
    }
}
