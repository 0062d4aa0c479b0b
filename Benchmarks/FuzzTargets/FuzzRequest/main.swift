internal import Foundation
internal import FuzzSupport

let target = try RequestTarget()
exit(FuzzDriver.run(seeds: { RequestSeeds.all + AnswerTarget.seeds }, target: target.run))
