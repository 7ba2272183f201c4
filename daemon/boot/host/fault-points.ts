// Names of the steps at which a test build can end its process.
import { filedropFaultPoints as ofCarriers } from '../../../adapters/transport/filedrop/fault-points.ts'
import { ingestFaultPoints } from '../../roles/ingest/fault-points.ts'

/** Steps of a resolution run: `run-kept` before the run is stored, the others before its state records the phase. */
const runFaultPoints = ['run-kept', 'run-extracted', 'run-matched', 'run-resolved', 'run-publishing'] as const

/** Steps of a file of records: `matched` before its answers are on disk, `answered` before the progress counts them. */
const arrivalFaultPoints = [
  'arrival-file-claimed',
  'arrival-file-matched',
  'arrival-file-answered',
  'arrival-file-ended',
  'arrival-file-put-away',
] as const

export const faultPoints = [...ofCarriers, ...runFaultPoints, ...arrivalFaultPoints, ...ingestFaultPoints] as const
export type FaultPoint = (typeof faultPoints)[number]
