// Finds the lens for a lookup, and the run whose weights score its fields.

import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc, Filter } from '../../../kernel/store/store.ts'
import type { LookupWeights } from '../engine/lookup/weights.ts'
import { fusionRuns, type StoredRun } from '../fusion-run/model.ts'
import { findLens } from '../lens/find-lens.ts'
import { lenses, type StoredLens } from '../lens/stored-lens.ts'
import { lensBindings } from '../lens-binding/model.ts'

export type LensSelector = {
  readonly lens_id?: string | undefined
  readonly lens_version?: string | undefined
  readonly entity_type?: string | undefined
}

export type TrainedLens = {
  readonly lens: Doc<StoredLens>
  readonly run: Doc<StoredRun>
  /** With the cut of the run, if it set one. */
  readonly weights: LookupWeights
}

/** Runs searched for one with stored weights: runs of an exchange do not train any. */
const max_runs = 50

export async function findTrainedLens(call: Call, selector: LensSelector): Promise<TrainedLens | Refusal> {
  const named = await findLensInUse(call, selector)
  if (isRefusal(named)) return named
  const of = selector.lens_version === undefined ? { lens: named.value.lens } : { lens_id: named.id }
  const trained = await findLatestTrainedLens(call, { tenant_id: named.value.tenant_id, ...of })
  if (trained) return trained
  return refuse(
    'wrong_state',
    `no completed run of the lens ${named.value.lens} has stored weights; complete a run first`,
  )
}

/** The latest run that kept its weights, and the version of the lens that it saw the records by. */
export async function findLatestTrainedLens(call: Call, of: Filter): Promise<TrainedLens | undefined> {
  const { docs } = await call.store(fusionRuns).list({
    ...{ filter: { ...of, state: 'completed' }, order: { field: 'created_at', direction: 'desc' }, limit: max_runs },
    fresh: true,
  })
  for (const run of docs) {
    const { weights, threshold, lens_id } = run.value
    const lens = weights && (await call.store(lenses).find(lens_id))
    if (!weights || !lens) continue
    return { lens, run, weights: threshold === undefined ? weights : { ...weights, cut: threshold * Math.LN2 } }
  }
  return undefined
}

/** The requested lens; otherwise the one bound to the entity type, if it is the only one. */
async function findLensInUse(
  call: Call,
  { lens_id, lens_version, entity_type }: LensSelector,
): Promise<Doc<StoredLens> | Refusal> {
  if (lens_id !== undefined) return await findLens(call, lens_id, lens_version)
  const filter = entity_type === undefined ? {} : { entity_type }
  const { docs } = await call.store(lensBindings).list({
    ...{ filter, order: { field: 'updated_at', direction: 'desc' }, limit: 500 },
  })
  const [first] = docs
  if (!first) return refuse('not_found', 'no lens is in use for this')
  const names = [...new Set(docs.map(({ value }) => value.lens))].sort()
  if (names.length > 1) {
    const message = `several lenses are in use (${names.join(', ')}): say which`
    return refuse('invalid', message, [{ path: 'lens_id', message }])
  }
  return await findLens(call, first.value.lens, lens_version)
}
