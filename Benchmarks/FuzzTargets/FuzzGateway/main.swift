internal import Foundation
internal import FuzzSupport
internal import HostileHTTP

let target = try GatewayTarget()
exit(FuzzDriver.run(seeds: { HostileSeeds.all }, target: target.run))
