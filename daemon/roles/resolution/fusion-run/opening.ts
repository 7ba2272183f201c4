// Opens a run for the caller's tenant: what it is about is on disk before the run is there, and the run before it is told.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { type FieldError, isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import { classification, join, type Label } from '../../../kernel/label.ts'
import { labelFor } from '../../../kernel/labelling.ts'
import type { Doc } from '../../../kernel/store.ts'
import { seed, word } from '../fields.ts'
import { lensNamed } from '../lens/named.ts'
import type { StoredLens } from '../lens/stored.ts'
import { runTotal } from '../metrics.ts'
import { runWork } from '../parts.ts'
import { settings } from '../settings.ts'
import { tellRun } from './change.ts'
import { fusionRuns, overLens, privacy, type StoredRun, toConsensus } from './model.ts'
import { nodeData, nodesOf } from './node-data.ts'
import { open_states } from './rules.ts'

export const runInput = z.strictObject({
  lens_id: word.meta({ description: 'uid or name of the lens' }),
  lens_version: word.optional().meta({ description: 'Its newest version, or that of the uid, where it is absent' }),
  node_data: nodeData,
  ...overLens,
  privacy: privacy.default('none'),
  seed,
  classification: classification.optional(),
  consensus: toConsensus.optional().meta({ description: 'Puts matches of uncertain score to consensus sessions' }),
})
type RunInput = z.infer<typeof runInput>

/** Largest request that brings records along. */
export const max_body_bytes = 16_777_216

export async function openRun(call: Call, goal: StoredRun['goal'], input: RunInput): Promise<Doc<StoredRun> | Refused> {
  const id = call.newId('run')
  const before = await call.store(fusionRuns).find(id)
  if (before) return repeated(call, before)
  const lens = await lensNamed(call, input.lens_id, input.lens_version)
  if (isRefused(lens)) return lens
  const refused = await whyNot(call, input)
  if (refused) return refused
  const label = labelOfRun(call, input, lens)
  if (isRefused(label)) return label
  const value = { ...opened(call, goal, input, lens), label, sources: nodesOf(input.node_data).sources }
  // One after the other, so that no number of requests at once comes past the limit.
  return await call.part(runWork).inTurn(value.tenant_id, () => madeOnce(call, id, value, input))
}

async function madeOnce(
  call: Call,
  id: string,
  value: StoredRun,
  { node_data }: RunInput,
): Promise<Doc<StoredRun> | Refused> {
  const before = await call.store(fusionRuns).find(id)
  if (before) return repeated(call, before)
  const refused = await tooMany(call)
  if (refused) return refused
  const { label, goal, sources } = value
  const { inline } = nodesOf(node_data)
  const kept = inline.size > 0 ? await call.part(runWork).keep(id, inline) : undefined
  const detail = { lens: value.lens, lens_version: value.lens_version, goal, sources }
  const audit = [call.audited('resolution.fusion-run.start', id, detail, label)]
  const made = await call
    .store(fusionRuns)
    .create(id, value, audit)
    .finally(() => kept?.release())
  if (made === 'exists') return repeated(call, await call.store(fusionRuns).get(id))
  call.count(runTotal, { state: 'pending' })
  tellRun(call, made)
  return made
}

/** Of the tenant, as far as the caller may know of them. */
async function tooMany(call: Call): Promise<Refused | undefined> {
  const { runs_per_tenant: most } = call.settings(settings)
  const filter = { tenant_id: call.caller.tenant_id, state: { in: open_states }, exchange_id: { exists: false } }
  const { docs } = await call.store(fusionRuns).list({ filter, limit: most, fresh: true })
  if (docs.length < most) return undefined
  return refuse('rate_limited', `${most} runs of this tenant have not ended: let some end, or cancel some`)
}

function opened(call: Call, goal: StoredRun['goal'], input: RunInput, { id, value }: Doc<StoredLens>) {
  const { threshold, null_penalty, id_field, consensus } = input
  const at = call.nowIso()
  return {
    tenant_id: call.caller.tenant_id,
    created_by: call.caller.subject,
    created_at: at,
    updated_at: at,
    lens: value.lens,
    lens_id: id,
    lens_version: value.lens_version,
    entity_type: value.entity_type,
    state: 'pending' as const,
    goal,
    privacy: input.privacy,
    seed: input.seed,
    counts: {},
    request_digest: call.requestDigest(),
    owes: 1 as const,
    attempts: 0,
    ...(threshold === undefined ? {} : { threshold }),
    ...(null_penalty === undefined ? {} : { null_penalty }),
    ...(id_field === undefined ? {} : { id_field }),
    ...(consensus === undefined ? {} : { consensus }),
  }
}

/** What a run says of records names fields of the lens: its label is that of both. */
export function labelOfRun(
  call: Call,
  { classification: given }: Pick<RunInput, 'classification'>,
  { value }: Doc<StoredLens>,
): Label | Refused {
  const own = labelFor(call, given ?? call.site.default_level)
  if (isRefused(own)) return own
  const joined = join(own, value.label, call.site.labels)
  return joined ? labelFor(call, joined) : refuse('label_denied', 'the lens is labelled by another policy')
}

function repeated(call: Call, before: Doc<StoredRun>): Doc<StoredRun> | Refused {
  if (before.value.request_digest === call.requestDigest()) return before
  return refuse('idempotency_mismatch', 'the idempotency key was used with another request')
}

async function whyNot(call: Call, input: RunInput): Promise<Refused | undefined> {
  const faults = [...unsupported(input), ...(await unusable(call, input))]
  return faults.length > 0 ? refuse('invalid', 'the run cannot be carried out', faults) : undefined
}

function unsupported({ privacy: mode }: RunInput): FieldError[] {
  return mode === 'none' ? [] : [{ path: 'privacy', message: `${mode} is between two sites: propose an exchange` }]
}

async function unusable(call: Call, { node_data }: RunInput): Promise<FieldError[]> {
  const { inline, sources } = nodesOf(node_data)
  const most = call.settings(settings).inline_records
  const records = [...inline.values()].reduce((sum, { length }) => sum + length, 0)
  const faults: FieldError[] = []
  if (records > most) {
    faults.push({ path: 'node_data', message: `brings ${records} records, and may bring ${most}: name a data file` })
  }
  const files = sources.flatMap(({ node_id, file }) => (file === undefined ? [] : [{ node_id, file }]))
  if (files.length === 0) return faults
  const unreadable = await call.part(runWork).unreadable(
    call.caller.tenant_id,
    files.map(({ file }) => file),
  )
  for (const { node_id, file } of files) {
    const message = unreadable.get(file)
    if (message !== undefined) faults.push({ path: `node_data.${node_id}.file`, message })
  }
  return faults
}
