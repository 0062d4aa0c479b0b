internal import AppCheck
internal import Pipeline

extension Configuration {
    /// The exchange's part of what the pipeline judges by. A live worker adds the number of partitions and
    /// a source of random bytes; a replay leaves both away.
    func exchangeSettings(_ keys: KeyRings) -> ExchangeSettings {
        var settings = ExchangeSettings(keys: keys)
        settings.sealsChallenges = challenges.mode == .sealed
        settings.challengeLife = challenges.ttlMilliseconds
        return settings
    }
}
