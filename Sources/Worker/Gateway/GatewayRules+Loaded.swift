internal import AppCheck
internal import Gateway
internal import Settings

extension GatewayRules {
    /// - Throws: ``ConfigurationFault`` for a file of the gateway that cannot be understood.
    static func of(_ loaded: LoadedGateway) throws(ConfigurationFault) -> GatewayRules {
        var keySet: (bytes: [UInt8], keys: VerificationKeys)?
        if let bytes = loaded.publicKeys {
            do throws(KeySetFault) { keySet = (bytes, try VerificationKeys(jsonWebKeySet: bytes)) } catch {
                throw fault("publicKeys", loaded.configuration.gateway.publicKeys, error.description)
            }
        }
        do throws(VerifiersFault) {
            return GatewayRules(
                loaded.configuration,
                challenges: loaded.challenges,
                verifiers: try Verifiers(loaded.verifiers ?? []),
                keySet: keySet
            )
        } catch {
            throw fault("verifiers", loaded.configuration.gateway.verifiers, error.description)
        }
    }

    private static func fault(_ name: String, _ path: String?, _ problem: String) -> ConfigurationFault {
        ConfigurationFault("worker.json: gateway.\(name): \((path ?? "the file").printable) \(problem).")
    }
}
