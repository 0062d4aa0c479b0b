package import Pipeline
package import Streams

/// What lives beside a fleet's workers: those who send requests and wait for answers.
package protocol FleetCompany: AnyObject {
    /// A moment of the world.
    func move()
    /// The world becomes calm: no fault comes any more.
    func calm()
    /// How much time may pass in one step, in milliseconds: a process that waits looks up so often.
    var mostPause: Int { get }
    /// Whether nobody waits.
    var isSettled: Bool { get }
    /// What a worker starts with; nil = it does not start with its files.
    func settings(of worker: String) -> PipelineSettings?
    func clock(of worker: String) -> SimulatedClock
    /// A worker has ended for want of something in its files.
    func ended(_ worker: String, _ sentence: String)
    func told(_ fault: any SourceFault, by worker: String)
}
