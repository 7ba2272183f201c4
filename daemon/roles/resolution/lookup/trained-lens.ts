// Finds the lens for a lookup, and the run whose weights score its fields.

import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
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

/** Lens and weights have the threshold of the run, if it has one. */
export type TrainedLens = {
  readonly lens: Doc<StoredLens>
  readonly run: Doc<StoredRun>
  readonly weights: LookupWeights
}

/** Limit of runs to search for stored weights, which the latest one nearly always has; runs of an exchange have none. */
const max_runs = 50

export async function findTrainedLens(call: Call, selector: LensSelector): Promise<TrainedLens | Refusal> {
  const lens = await findLensInUse(call, selector)
  if (isRefusal(lens)) return lens
  const filter = selector.lens_version === undefined ? { lens: lens.value.lens } : { lens_id: lens.id }
  const trained = await findLatestTrainedLens(call, { tenant_id: lens.value.tenant_id, ...filter })
  if (trained) return trained
  return refuse(
    'wrong_state',
    `no completed run of the lens ${lens.value.lens} has stored weights; complete a run first`,
  )
}

/** Finds the latest run with stored weights, and the version of the lens that it used. */
export async function findLatestTrainedLens(call: Call, selection: Filter): Promise<TrainedLens | undefined> {
  const filter = { ...selection, state: 'completed' }
  const order = { field: 'created_at', direction: 'desc' } as const
  let searched = 0
  for await (const run of iterateDocuments(call.store(fusionRuns), { filter, order, fresh: true, page_size: 1 })) {
    if (++searched > max_runs) break
    const { weights, threshold, lens_id } = run.value
    const lens = weights && (await call.store(lenses).find(lens_id))
    if (!weights || !lens) continue
    if (threshold === undefined) return { lens, run, weights }
    return { lens: withThreshold(lens, threshold), run, weights: { ...weights, cut: threshold * Math.LN2 } }
  }
  return undefined
}

function withThreshold(lens: Doc<StoredLens>, threshold: number): Doc<StoredLens> {
  return { ...lens, value: { ...lens.value, body: { ...lens.value.body, threshold } } }
}

/** Finds the requested lens; otherwise the only lens bound to the entity type. */
async function findLensInUse(
  call: Call,
  { lens_id, lens_version, entity_type }: LensSelector,
): Promise<Doc<StoredLens> | Refusal> {
  if (lens_id !== undefined) return await findLens(call, lens_id, lens_version)
  const filter = entity_type === undefined ? {} : { entity_type }
  const names = [...(await call.store(lensBindings).countBy('lens', filter)).keys()].map(String).sort()
  const [name] = names
  if (name === undefined) return refuse('not_found', 'no lens is in use for this entity type; create a lens first')
  if (names.length > 1) {
    const message = `several lenses are in use (${names.join(', ')}): set lens_id`
    return refuse('invalid', message, [{ path: 'lens_id', message }])
  }
  return await findLens(call, name, lens_version)
}
