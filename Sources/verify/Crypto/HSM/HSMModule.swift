internal import CPKCS11
internal import Dispatch
internal import Threads

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Why a token does not answer, or a module cannot be used: the end of a sentence about the key.
package enum HSMFault: Error, Equatable, Sendable, CustomStringConvertible {
    case module(String)
    /// A step and the code that it ended with.
    case call(String, UInt)
    /// A call has not returned within its limit, or too many have not.
    case silent
    case noPIN
    case pinLocked
    /// One more wrong PIN locks the token.
    case lastTry
    /// The public half does not verify the signature.
    case wrongSignature
    case signing(SigningKeyFault)

    package var description: String {
        switch self {
        case .module(let problem): "cannot be reached: its module \(problem)"
        case .call(let step, PKCS11_NONE): "cannot be reached: \(step) finds nothing of that name"
        case .call(let step, PKCS11_SEVERAL): "is not clear: \(step) finds several of that name"
        case .call(let step, PKCS11_SHAPE): "cannot be used: \(step) gives something else than RSA or P-256"
        case .call(let step, let code):
            "cannot be reached: \(step) ends with \(Self.text(of: code))" + (isFinal ? "; correct the PIN's file" : "")
        case .silent: "does not answer in time"
        case .noPIN: "needs a login: name the PIN's file: \"pin\": \"${file:PATH}\""
        case .pinLocked:
            "cannot be reached: wrong PINs have locked its token; the token's security officer sets a new PIN"
        case .lastTry:
            "gets no login: one more wrong PIN locks its token; correct the PIN's file, then try it once with "
                + "attest-worker jwks --try-pin"
        case .wrongSignature: "makes signatures that its public half does not verify"
        case .signing(let fault): fault.description
        }
    }

    private static func text(of code: UInt) -> String {
        // A constant text, or none.
        unsafe pkcs11_text(code).map { unsafe String(cString: $0) } ?? "code \(code)"
    }

    /// CKR_SESSION_COUNT: the token allows no further one.
    var isLackOfSessions: Bool { self == .call("C_OpenSession", 0xB1) }

    /// Whether another try may do harm: tokens count wrong PINs and lock themselves.
    package var isFinal: Bool {
        switch self {
        case .noPIN, .pinLocked, .lastTry: true
        // CKR_PIN_INCORRECT to CKR_PIN_LOCKED.
        case .call(_, let code): (0xA0...0xA4).contains(code)
        default: false
        }
    }
}

/// A PKCS #11 library, loaded from a path that the operator names and never closed. All keys of the path share it.
///
/// Any call may hang, for minutes where a network is between: each is made on a thread that is left to it.
@safe final class HSMModule: Sendable {
    @safe private struct State {
        /// Constants of the library; nil until it is loaded.
        var functions: OpaquePointer?
        /// Calls inside the library.
        var users = 0
        /// Rises with each restart: sessions of an earlier one are gone.
        var generation = 0
        /// Keys that sign.
        var signing = 0
        /// What each token has refused last, by label and serial number.
        var refused: [[UInt8]: (pin: Secret, fault: HSMFault)] = [:]
    }

    /// More than the lanes need, so that a key is tried again while calls hang.
    private static let mostCalls = 64
    private static let all = Locked<[String: HSMModule]>([:])

    private let path: String
    private let calls: BoundedCalls
    private let state = Locked(State())
    private let start = DispatchSemaphore(value: 1)
    /// One at a time, since a token counts wrong ones.
    private let login = DispatchSemaphore(value: 1)

    private init(_ path: String, _ threads: any CallThreads) {
        (self.path, calls) = (path, BoundedCalls(on: threads, most: Self.mostCalls))
    }

    /// - Parameter threads: those of the first caller serve all.
    static func at(_ path: String, _ threads: any CallThreads) -> HSMModule {
        all.withLock { modules in
            let module = modules[path] ?? HSMModule(path, threads)
            modules[path] = module
            return module
        }
    }

    /// The library's functions, for calls inside ``use(within:late:_:)``.
    var functions: OpaquePointer {
        guard let functions = unsafe state.withLock({ unsafe $0.functions })
        else { preconditionFailure("a call is inside a library that is loaded") }
        return unsafe functions
    }

    /// Calls the library, which is loaded first.
    ///
    /// - Parameter late: takes what a call brings that nobody waits for any more.
    func use<Value: Sendable>(
        within limit: Duration,
        late: @escaping @Sendable (Value) -> Void = { _ in },
        _ body: @escaping @Sendable (_ generation: Int) throws(HSMFault) -> Value
    ) throws(HSMFault) -> Value {
        let made: Result<Value, HSMFault>? = calls.run(within: limit) { [self] in
            Result { () throws(HSMFault) in
                let generation = try enter()
                defer { state.withLock { $0.users -= 1 } }
                return try body(generation)
            }
        } late: {
            if case .success(let value) = $0 { late(value) }
        }
        guard let made else { throw .silent }
        return try made.get()
    }

    private func enter() throws(HSMFault) -> Int {
        start.wait()
        defer { start.signal() }
        if unsafe state.withLock({ unsafe $0.functions }) == nil {
            let functions = unsafe try Self.load(path)
            state.withLock { unsafe $0.functions = unsafe functions }
        }
        return state.withLock { state in
            state.users += 1
            return state.generation
        }
    }

    private static func load(_ path: String) throws(HSMFault) -> OpaquePointer {
        // Code that sees PINs must be root's or this user's. Loaded by its path, since modules look for their other files
        // beside it; the folders are judged, so no other user can exchange it.
        do throws(CodeFault) { close(try CodeFile.open(path)) } catch { throw .module(error.description) }
        guard let library = unsafe dlopen(path, RTLD_NOW | RTLD_LOCAL), let functions = unsafe pkcs11_module_of(library)
        else { throw .module("is not a library with the functions of PKCS #11 version 2") }
        let code = unsafe pkcs11_initialize(functions)
        guard code == 0 else { throw .call("C_Initialize", code) }
        return unsafe functions
    }

    func note(signs: Bool) { state.withLock { $0.signing += signs ? 1 : -1 } }

    /// Closes sessions of ours, and waits for none: a connection that hangs holds up its closing too.
    func end(_ sessions: [(generation: Int, handle: UInt)]) {
        guard !sessions.isEmpty else { return }
        try? use(within: .zero) { [self] generation in
            // After a restart their numbers may be those of other sessions.
            for session in sessions where session.generation == generation {
                unsafe pkcs11_close(functions, session.handle)
            }
        }
    }

    /// Has the library forget its tokens and look for them again: some see no other way a token that was taken away and
    /// came back. Not while a key of the module signs, or a call is inside.
    func restart(within limit: Duration) {
        _ = calls.run(within: limit) { [self] in
            start.wait()
            defer { start.signal() }
            guard state.withLock({ unsafe $0.users == 0 && $0.signing == 0 && $0.functions != nil }) else { return }
            unsafe pkcs11_finalize(functions)
            unsafe pkcs11_initialize(functions)
            state.withLock { $0.generation += 1 }
        }
    }

    /// Logs in, unless a session of this process has: it counts for all of them.
    ///
    /// A PIN that the token has refused is not tried again, nor any where one more wrong one locks the token.
    ///
    /// - Parameter triesLast: an operator asks for that try.
    func logIn(_ session: UInt, _ slot: UInt, _ pin: Secret, triesLast: Bool) throws(HSMFault) {
        login.wait()
        defer { login.signal() }
        guard unsafe pkcs11_is_logged_in(functions, session) == 0 else { return }
        var (token, flags) = ([UInt8](repeating: 0, count: Int(PKCS11_TOKEN_BYTES)), UInt(0))
        // The call writes as many bytes, and one number.
        let read = unsafe pkcs11_token(functions, slot, &token, &flags)
        guard read == 0 else { throw .call("C_GetTokenInfo", read) }
        guard flags & UInt(PKCS11_PIN_LOCKED) == 0 else { throw .pinLocked }
        if let refused = state.withLock({ $0.refused[token] }), refused.pin.isEqual(to: pin) { throw refused.fault }
        guard triesLast || flags & UInt(PKCS11_PIN_LAST_TRY) == 0 else { throw .lastTry }
        let code = unsafe pin.withUnsafeBytes { unsafe pkcs11_login(functions, session, $0.baseAddress, $0.count) }
        guard code != 0 else { return }
        let fault = HSMFault.call("C_Login", code)
        if fault.isFinal { state.withLock { $0.refused[token] = (pin, fault) } }
        throw fault
    }
}
