// Every step at which a build for tests can be made to die, by name.
import { faultPoints as ofCarriers } from '../../adapters/transport/filedrop/fault-points.ts'

/** Of runs of entity resolution: `kept` before the run is in the store, the others before its state says so. */
const ofRuns = ['run-kept', 'run-extracted', 'run-matched', 'run-resolved', 'run-publishing'] as const

export const faultPoints = [...ofCarriers, ...ofRuns] as const
export type FaultPoint = (typeof faultPoints)[number]
