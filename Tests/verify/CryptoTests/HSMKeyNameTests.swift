import TestKit
import Testing

@testable import Crypto

@Suite("Names of keys inside tokens")
struct HSMKeyNameTests {
    private static let module = "?module-path=/usr/lib/softhsm/libsofthsm2.so"

    @Test func `a URI names module, token and key, in percent encoding and in any order`() throws {
        let name = try HSMKeyName(
            "pkcs11:object=sign%20a;serial=0f;id=%01%FFx;token=wo%C3%A4;type=private?module-path=/usr/lib/a%3Bb.so"
        )
        #expect(name.module == "/usr/lib/a;b.so" && name.token == "woä" && name.serial == "0f")
        #expect(name.object == "sign a" && name.identifier == [0x01, 0xFF, 0x78])
        let other = try HSMKeyName("pkcs11:token=worker;id=%01\(Self.module)")
        #expect(other.object == nil && other.serial == nil && other.identifier == [1])
        #expect(try HSMKeyName("pkcs11:token=worker\(Self.module)", isWhole: false).key("k1").object == "k1")
    }

    @Test(
        arguments: [
            ("pkcs12:token=a;object=b\(module)", "must begin with pkcs11:"),
            ("pkcs11:token=a;object=b", "must end in ?module-path="),
            ("pkcs11:token=a;object=b?module-path=lib.so", "must end in ?module-path="),
            ("pkcs11:object=b\(module)", "must name a token= or a serial="),
            ("pkcs11:token=a\(module)", "must name an object= or an id="),
            ("pkcs11:token=a;object=b;type=cert\(module)", "must name a private key"),
            (
                "pkcs11:token=a;object=b;slot-id=0\(module)",
                "has an attribute other than token, serial, object, id, type"
            ),
            ("pkcs11:token=a;token=c;object=b\(module)", "has token twice"),
            ("pkcs11:token=%4;object=b\(module)", "has token twice, or without a value in percent encoding"),
            ("pkcs11:token=%GG;object=b\(module)", "has token twice, or without a value in percent encoding"),
            ("pkcs11:token=a%00;object=b\(module)", "has an empty or unreadable token"),
            ("pkcs11:token=;object=b\(module)", "has an empty or unreadable token"),
            ("pkcs11:token=a;object=b\(module)&pin-value=1234", "must not carry a PIN"),
            ("pkcs11:token=a;object=b\(module)&x=1", "has an attribute other than module-path"),
        ]
    )
    func `a URI that names no key, or says more, is refused`(text: String, problem: String) {
        do throws(HSMKeyName.Fault) {
            _ = try HSMKeyName(text)
            Issue.record("\(text) is taken")
        } catch { #expect(error.problem.hasPrefix(problem), "\(error.problem)") }
    }

    @Test func `a token's name alone has no key in it`() {
        #expect(throws: HSMKeyName.Fault.self) {
            try HSMKeyName("pkcs11:token=a;object=b\(Self.module)", isWhole: false)
        }
    }

    @Test func `only faults of the PIN are final`() {
        #expect(
            HSMFault.call("C_Login", 0xA0).isFinal && HSMFault.call("C_Login", 0xA4).isFinal && HSMFault.noPIN.isFinal
        )
        #expect(HSMFault.lastTry.isFinal && HSMFault.pinLocked.isFinal && !HSMFault.silent.isFinal)
        #expect(!HSMFault.call("C_Sign", 0x32).isFinal && !HSMFault.wrongSignature.isFinal)
        #expect("\(HSMFault.call("C_Sign", 0x32))" == "cannot be reached: C_Sign ends with CKR_DEVICE_REMOVED")
        #expect("\(HSMFault.call("C_Sign", 0x8000_0001))".hasSuffix("code 2147483649"))
    }

    @Test(arguments: ["/nowhere/lib.so", "relative.so", "/etc/passwd"])
    func `a module that is no library of the kind is refused`(path: String) {
        let module = HSMModule.at(path, ParkingThreads())
        // Each call tries it.
        for _ in 0..<2 {
            do throws(HSMFault) {
                _ = try module.use(within: .zero) { $0 }
                Issue.record("it is a module")
            } catch { #expect("\(error)".hasPrefix("cannot be reached: its module "), "\(error)") }
        }
    }
}
