internal import Foundation
internal import FuzzSupport

let target = try SignatureTarget()
exit(FuzzDriver.run(seeds: { target.seeds }, target: target.run))
