internal import CPKCS11
internal import Dispatch
internal import Threads

/// A private key inside a PKCS #11 token: it never leaves it. Threads sign in parallel, each in a session of its own, or
/// wait for one where the token allows fewer.
///
/// A signature that fails is tried once more in a new session, with a new login, for sessions die alone; then the key is
/// away until ``revive()``. So it is where a signature takes too long: its thread is left to the module.
@safe package final class HSMKey: HeldKey {
    private struct Session {
        let generation: Int
        let handle: UInt
        let key: UInt
        var number: (generation: Int, handle: UInt) { (generation, handle) }
    }

    private struct State {
        var isAvailable = false
        var fault: HSMFault?
        var idle: [Session] = []
        /// Threads that sign, or open a session for it.
        var busy = 0
        /// Threads that wait for one of them.
        var waiting = 0
    }

    /// A start waits no longer for a key.
    package static let openLimit = Duration.seconds(10)
    private static let generationLimit = Duration.seconds(600)
    private static let probe = SHA256.hash(Array("attest-worker".utf8))

    package let name: HSMKeyName
    package let publicKey: VerificationKey
    private let module: HSMModule
    private let pin: Secret?
    /// How long a signature may take.
    private let limit: Duration
    private let state = Locked(State())
    /// Signalled for each waiting thread.
    private let returned = DispatchSemaphore(value: 0)

    /// Opens the key, which must sign.
    ///
    /// - Parameters:
    ///   - pin: of the token's user; nil = keys there can be used without a login.
    ///   - triesLast: whether to log in even where one more wrong PIN locks the token.
    package init(
        _ name: HSMKeyName,
        pin: Secret?,
        limit: Duration,
        triesLast: Bool = false,
        on threads: any CallThreads
    ) throws(HSMFault) {
        let module = HSMModule.at(name.module, threads)
        (self.name, self.pin, self.limit, self.module) = (name, pin, limit, module)
        let session: Session
        (session, publicKey) = try module.use(within: Self.openLimit) { late in
            module.end([late.0.number])
        } _: { generation throws(HSMFault) in
            func proven() throws(HSMFault) -> (Session, VerificationKey) {
                let session = try Self.open(name, pin, module, generation, triesLast: triesLast)
                do throws(HSMFault) {
                    let key = try Self.publicHalf(of: session, module)
                    _ = try Self.signature(of: Self.probe, session, key, module)
                    return (session, key)
                } catch {
                    unsafe pkcs11_close(module.functions, session.handle)
                    throw error
                }
            }
            do throws(HSMFault) { return try proven() } catch {
                guard !error.isFinal else { throw error }
                return try proven()
            }
        }
        state.withLock { $0.idle = [session] }
        note(nil)
    }

    deinit {
        if isAvailable { module.note(signs: false) }
        module.end(state.withLock { $0.idle.map(\.number) })
    }

    package var isAvailable: Bool { state.withLock { $0.isAvailable } }
    package var fault: String? { state.withLock { $0.fault?.description } }
    /// Whether only another configuration helps.
    package var isLost: Bool { state.withLock { $0.fault?.isFinal ?? false } }

    package func signature(of digest: Digest) -> [UInt8]? {
        guard isAvailable else { return nil }
        do throws(HSMFault) { return try signed(digest) } catch {
            note(error)
            return nil
        }
    }

    package func revive() {
        guard !isAvailable, !isLost else { return }
        do throws(HSMFault) {
            do throws(HSMFault) { _ = try signed(Self.probe) } catch {
                guard !error.isFinal, error != .silent else { throw error }
                module.restart(within: limit)
                _ = try signed(Self.probe)
            }
            note(nil)
        } catch { note(error) }
    }

    private func note(_ fault: HSMFault?) {
        let change: Bool? = state.withLock { state in
            state.fault = fault
            guard state.isAvailable != (fault == nil) else { return nil }
            state.isAvailable = fault == nil
            return state.isAvailable
        }
        if let change { module.note(signs: change) }
        guard fault == .silent else { return }
        // Threads that wait for a session would wait for one that hangs; idle ones may share its connection.
        wake(.max)
        module.end(
            state.withLock { state in
                defer { state.idle = [] }
                return state.idle.map(\.number)
            }
        )
    }

    /// A signature that the public half verifies.
    private func signed(_ digest: Digest) throws(HSMFault) -> [UInt8] {
        try module.use(within: limit) { [self] generation throws(HSMFault) in
            let (session, isNew) = try take(generation)
            do throws(HSMFault) { return try sign(digest, in: session) } catch {
                guard !isNew else { throw error }
                // Others may have died with it.
                while let other = takeIdle(generation) { unsafe pkcs11_close(module.functions, other.handle) }
            }
            return try sign(digest, in: try take(generation).session)
        }
    }

    /// An idle session, a new one, or one that another thread gives back.
    private func take(_ generation: Int) throws(HSMFault) -> (session: Session, isNew: Bool) {
        while true {
            // Busy before the session is open, so that another thread waits for it.
            if let idle = takeIdle(generation, toSign: true) { return (idle, false) }
            do throws(HSMFault) { return (try Self.open(name, pin, module, generation), true) } catch {
                state.withLock { $0.busy -= 1 }
                if error.isLackOfSessions, waitForOthers() { continue }
                // Others may wait for a session that is gone: each finds its own fault.
                wake(.max)
                throw error
            }
        }
    }

    /// - Returns: false where no other thread has a session to give back, or may keep it for long.
    private func waitForOthers() -> Bool {
        let waits: Bool? = state.withLock { state in
            guard state.idle.isEmpty else { return false }
            guard state.busy > 0, state.isAvailable else { return nil }
            state.waiting += 1
            return true
        }
        if waits == true { returned.wait() }
        return waits != nil
    }

    private func takeIdle(_ generation: Int, toSign: Bool = false) -> Session? {
        state.withLock { state in
            if toSign { state.busy += 1 }
            state.idle.removeAll { $0.generation != generation }
            return state.idle.popLast()
        }
    }

    private func wake(_ most: Int) {
        let count = state.withLock { state in
            let count = min(most, state.waiting)
            state.waiting -= count
            return count
        }
        for _ in 0..<count { returned.signal() }
    }

    /// Gives the session back where it has signed, and closes it otherwise.
    private func sign(_ digest: Digest, in session: Session) throws(HSMFault) -> [UInt8] {
        let made = Result { () throws(HSMFault) in try Self.signature(of: digest, session, publicKey, module) }
        let isValid = (try? made.get()) != nil
        if !isValid { unsafe pkcs11_close(module.functions, session.handle) }
        state.withLock { state in
            if isValid { state.idle.append(session) }
            state.busy -= 1
        }
        wake(1)
        return try made.get()
    }

    private static func signature(
        of digest: Digest,
        _ session: Session,
        _ publicKey: VerificationKey,
        _ module: HSMModule
    ) throws(HSMFault) -> [UInt8] {
        let (isRSA, size) = (publicKey.kind == .rsa, publicKey.signatureBytes)
        let data = isRSA ? EMSAPadding.info + digest.bytes : digest.bytes
        var (signature, count) = ([UInt8](repeating: 0, count: size), size)
        // The call reads the data, and writes at most `count` bytes.
        let code = unsafe pkcs11_sign(
            module.functions,
            session.handle,
            session.key,
            isRSA ? 1 : 0,
            data,
            data.count,
            &signature,
            &count
        )
        guard code == 0 else { throw .call("C_Sign", code) }
        guard count == size, publicKey.isValid(signature.span, of: digest) else { throw .wrongSignature }
        return signature
    }
}

// MARK: - Sessions

extension HSMKey {
    private static func check(_ step: String, _ code: UInt) throws(HSMFault) {
        guard code == 0 else { throw .call(step, code) }
    }

    /// A session of the key's token, logged in, and the key's handle there.
    private static func open(
        _ name: HSMKeyName,
        _ pin: Secret?,
        _ module: HSMModule,
        _ generation: Int,
        writes: Bool = false,
        triesLast: Bool = false
    ) throws(HSMFault) -> Session {
        let functions = unsafe module.functions
        var (slot, handle, key): (UInt, UInt, UInt) = (0, 0, 0)
        // Each call writes one number, and keeps no pointer.
        try check("the search for the token", unsafe pkcs11_find_slot(functions, name.token, name.serial, &slot))
        try check("C_OpenSession", unsafe pkcs11_open(functions, slot, writes ? 1 : 0, &handle))
        do throws(HSMFault) {
            if let pin { try module.logIn(handle, slot, pin, triesLast: triesLast) }
            if !writes {
                let id = name.identifier ?? []
                let code = unsafe pkcs11_find_key(functions, handle, name.object, id, id.count, &key)
                // Without a login private keys do not show.
                guard code != PKCS11_NONE || pin != nil else { throw .noPIN }
                try check("the search for the key", code)
            }
            return Session(generation: generation, handle: handle, key: key)
        } catch {
            unsafe pkcs11_close(functions, handle)
            throw error
        }
    }

    private static func publicHalf(of session: Session, _ module: HSMModule) throws(HSMFault) -> VerificationKey {
        var (first, second) = ([UInt8](repeating: 0, count: 1025), [UInt8](repeating: 0, count: 8))
        var (firstCount, secondCount) = (first.count, second.count)
        // The call writes at most as many bytes as the counts say, and says how many.
        let code = unsafe pkcs11_public_half(
            module.functions,
            session.handle,
            session.key,
            &first,
            &firstCount,
            &second,
            &secondCount
        )
        try check("the read of its public half", code)
        func number(_ bytes: [UInt8], _ count: Int) -> [UInt8] { Array(bytes.prefix(count).drop { $0 == 0 }) }
        guard secondCount > 0 else {
            guard let point = P256PublicKey(x963: Array(first.prefix(firstCount))),
                let key = VerificationKey(.p256(point))
            else { throw .signing(.wrongKind) }
            return key
        }
        let modulus = number(first, firstCount)
        if let fault = SigningKeyFault(rsaBits: 8 * modulus.count) { throw .signing(fault) }
        guard let key = VerificationKey(.rsa(modulus: modulus, exponent: number(second, secondCount)))
        else { throw .signing(.inconsistent) }
        return key
    }

    /// Makes a key pair inside the token. Its private half never leaves it.
    ///
    /// - Parameters:
    ///   - token: the token's name.
    ///   - label: what the token has no key of yet.
    package static func generate(
        _ kind: SigningKey.Kind,
        _ label: String,
        in token: HSMKeyName,
        rsaBits: Int,
        pin: Secret?,
        on threads: any CallThreads
    ) throws(HSMFault) -> HSMKey {
        let module = HSMModule.at(token.module, threads)
        try module.use(within: generationLimit) { generation throws(HSMFault) in
            let session = try open(token, pin, module, generation, writes: true)
            // The label is copied for the call.
            let code = unsafe pkcs11_generate(module.functions, session.handle, label, kind == .rsa ? UInt(rsaBits) : 0)
            unsafe pkcs11_close(module.functions, session.handle)
            try check("C_GenerateKeyPair", code)
        }
        return try HSMKey(token.key(label), pin: pin, limit: openLimit, on: threads)
    }
}
