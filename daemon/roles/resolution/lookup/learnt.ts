// The lens that a record is looked up by, and the run whose weights tell what its fields are worth.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import type { Doc, Filter } from '../../../kernel/store.ts'
import type { LookupWeights } from '../engine/lookup/weights.ts'
import { fusionRuns, type StoredRun } from '../fusion-run/model.ts'
import { lensNamed } from '../lens/named.ts'
import { lenses, type StoredLens } from '../lens/stored.ts'
import { lensBindings } from '../lens-binding/model.ts'

export type Asked = {
  readonly lens_id?: string | undefined
  readonly lens_version?: string | undefined
  readonly entity_type?: string | undefined
}

export type Learnt = {
  readonly lens: Doc<StoredLens>
  readonly run: Doc<StoredRun>
  /** With the cut that the run was told, if it was. */
  readonly weights: LookupWeights
}

/** Runs that are looked through for one that kept its weights: those of an exchange learn nothing. */
const most_runs = 50

export async function learntFor(call: Call, asked: Asked): Promise<Learnt | Refused> {
  const named = await lensInUse(call, asked)
  if (isRefused(named)) return named
  const of = asked.lens_version === undefined ? { lens: named.value.lens } : { lens_id: named.id }
  const learnt = await latestRun(call, { tenant_id: named.value.tenant_id, ...of })
  if (learnt) return learnt
  return refuse('wrong_state', `no run of the lens ${named.value.lens} is completed, so nothing is known of its fields`)
}

/** The latest run that kept its weights, and the version of the lens that it saw the records by. */
export async function latestRun(call: Call, of: Filter): Promise<Learnt | undefined> {
  const { docs } = await call.store(fusionRuns).list({
    ...{ filter: { ...of, state: 'completed' }, order: { field: 'created_at', direction: 'desc' }, limit: most_runs },
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

/** The one that is said; else the one that its kind of entity is bound to, where that is one only. */
async function lensInUse(
  call: Call,
  { lens_id, lens_version, entity_type }: Asked,
): Promise<Doc<StoredLens> | Refused> {
  if (lens_id !== undefined) return await lensNamed(call, lens_id, lens_version)
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
  return await lensNamed(call, first.value.lens, lens_version)
}
