// Every step at which a build for tests can be made to die, by name.
import { filedropFaultPoints as ofCarriers } from '../../../adapters/transport/filedrop/fault-points.ts'

/** Of runs of entity resolution: `kept` before the run is in the store, the others before its state says so. */
const runFaultPoints = ['run-kept', 'run-extracted', 'run-matched', 'run-resolved', 'run-publishing'] as const

export const faultPoints = [...ofCarriers, ...runFaultPoints] as const
export type FaultPoint = (typeof faultPoints)[number]
