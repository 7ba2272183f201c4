// Names of the steps at which a test build can end its process.
import { filedropFaultPoints as ofCarriers } from '../../../adapters/transport/filedrop/fault-points.ts'

/** Steps of a resolution run: `run-kept` before the run is stored, the others before its state records the phase. */
const runFaultPoints = ['run-kept', 'run-extracted', 'run-matched', 'run-resolved', 'run-publishing'] as const

export const faultPoints = [...ofCarriers, ...runFaultPoints] as const
export type FaultPoint = (typeof faultPoints)[number]
