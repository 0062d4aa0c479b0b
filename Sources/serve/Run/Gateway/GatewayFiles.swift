internal import AppCheck
package import Gateway
package import Settings

/// A gateway reloads apps.json, worker.json's lists, challenge keys, the key set and the verifiers.
extension LoadedGateway: ProgramFiles {
    package var warnings: [String] { warnings(now: WallClock.milliseconds()) }

    package var appCount: Int { configuration.registry.apps.count }

    /// A key or caller that was revoked must not wait until another file is right.
    package var urgent: [(files: LoadedGateway, rules: GatewayRules, sentence: String)] {
        var running = self
        return OwnFile.allCases.compactMap { file in
            guard let next = running.renewing(file), let rules = try? next.makeRules() else { return nil }
            running = next
            return (next, rules, "the file of gateway.\(file.rawValue) is in use as it is now; nothing else is taken")
        }
    }

    /// - Throws: ``ConfigurationFault`` for a file of the gateway that cannot be understood.
    package func makeRules() throws(ConfigurationFault) -> GatewayRules {
        var keySet: (bytes: [UInt8], keys: VerificationKeys)?
        if let bytes = publicKeys {
            do throws(KeySetFault) { keySet = (bytes, try VerificationKeys(jsonWebKeySet: bytes)) } catch {
                throw Self.fault("publicKeys", configuration.gateway.publicKeys, error.description)
            }
        }
        do throws(CommandFault) {
            return GatewayRules(
                configuration,
                challenges: challenges,
                verifiers: try Verifiers(verifiers ?? []),
                keySet: keySet
            )
        } catch {
            throw Self.fault("verifiers", configuration.gateway.verifiers, error.sentence)
        }
    }

    private static func fault(_ name: String, _ path: String?, _ problem: String) -> ConfigurationFault {
        ConfigurationFault("worker.json: gateway.\(name): \((path ?? "the file").printable) \(problem).")
    }
}
