// Creates a run for the caller's tenant: writes its records to disk, stores the run, and announces it.
import * as z from 'zod'
import { type FieldError, isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { StoredPrincipal } from '../../../kernel/identity/delegation.ts'
import { announceJob } from '../../../kernel/job/job.ts'
import type { JobFields } from '../../../kernel/job/job-fields.ts'
import { newJob } from '../../../kernel/job/rules.ts'
import { classification } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { checkRepeatedRequest } from '../../../kernel/operation/check-repeated-request.ts'
import { abortRefusal } from '../../../kernel/operation/until-aborted.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc, Filter } from '../../../kernel/store/store.ts'
import { consensusRemedy, runsConsensus } from '../entity-match/consult.ts'
import { consensusRange } from '../entity-match/consultation.ts'
import { seed, shortText } from '../fields.ts'
import { labelWithLens } from '../label-with-lens.ts'
import { findLens } from '../lens/find-lens.ts'
import type { StoredLens } from '../lens/stored-lens.ts'
import { runTotal } from '../metrics.ts'
import { runWork } from '../parts.ts'
import { settings } from '../settings.ts'
import { locateDatasets } from './locate-datasets.ts'
import { acceptPoor, fusionRuns, lensOverrides, privacy, type StoredRun } from './model.ts'
import { type NodeRecord, nodeData, splitNodeData } from './node-data.ts'
import { open_states } from './rules.ts'
import { exchangeOfRun } from './start-exchange.ts'

export const runInput = z.strictObject({
  lens_id: shortText.meta({ description: 'uid or name of the lens' }),
  lens_version: shortText
    .optional()
    .meta({ description: 'Default: the version of the uid, or the newest version of the name' }),
  node_data: nodeData,
  ...lensOverrides,
  privacy: privacy.default('none'),
  seed,
  classification: classification.optional(),
  consensus: consensusRange
    .optional()
    .meta({ description: 'Opens consensus sessions for matches with uncertain scores' }),
  accept_poor: acceptPoor,
  exchange: exchangeOfRun.optional(),
})
export type RunInput = z.infer<typeof runInput>

export async function openRun(call: Call, goal: StoredRun['goal'], input: RunInput): Promise<Doc<StoredRun> | Refusal> {
  const id = call.newId('run')
  const before = await call.store(fusionRuns).find(id)
  if (before) return checkRepeatedRequest(call, before)
  const lens = await findLens(call, input.lens_id, input.lens_version)
  if (isRefusal(lens)) return lens
  const refused = await checkRunInput(call, input)
  if (refused) return refused
  await call.pause()
  const label = labelWithLens(call, input.classification, lens)
  if (isRefusal(label)) return label
  const located = await locateDatasets(call, splitNodeData(input.node_data).sources, label)
  if (isRefusal(located)) return located
  const value = { ...buildRun(call, goal, input, lens), ...located }
  await call.pause()
  // Before the turn: a role `site` that is slow or away delays nobody else of the tenant.
  const principal = (await checkRunLimit(call)) ?? (await call.delegation().store({ collection: fusionRuns.name, id }))
  if (isRefusal(principal)) return principal
  // In turn, so that concurrent requests together cannot exceed the limit.
  return await call.part(runWork).runInTurn(value.tenant_id, () => createRun(call, id, { value, principal }, input))
}

/** A run before its job begins. */
type UnstoredRun = { readonly value: Omit<StoredRun, keyof JobFields>; readonly principal: StoredPrincipal }

/** Changes nothing for a caller who has an answer already: the turn of the request may come after its end. */
async function createRun(
  call: Call,
  id: string,
  { value, principal }: UnstoredRun,
  { node_data }: RunInput,
): Promise<Doc<StoredRun> | Refusal> {
  if (call.signal.aborted) return abortRefusal(call.signal)
  const before = await call.store(fusionRuns).find(id)
  if (before) return checkRepeatedRequest(call, before)
  const refused = await checkRunLimit(call)
  if (refused) return refused
  const { label, goal, sources, accept_poor } = value
  const { inline } = splitNodeData(node_data)
  const stored = inline.size > 0 ? await call.part(runWork).storeRecords(id, inline) : undefined
  const accepted = accept_poor ? { accept_poor } : {}
  const detail = { lens: value.lens, lens_version: value.lens_version, goal, sources, ...accepted }
  const audit = [call.audited('resolution.fusion-run.start', id, detail, label)]
  const created = await call
    .store(fusionRuns)
    .create(id, { ...value, ...newJob(principal, call.now()) }, audit)
    .finally(() => stored?.release())
  if (created === 'exists') return checkRepeatedRequest(call, await call.store(fusionRuns).get(id))
  call.count(runTotal, { state: 'pending' })
  announceJob(call, fusionRuns, created)
  return created
}

/** Counts the open runs of the tenant and of the caller that the caller may see. */
async function checkRunLimit(call: Call): Promise<Refusal | undefined> {
  const { runs_per_tenant, runs_per_principal } = call.settings(settings)
  const { tenant_id, subject } = call.caller
  const limits = [
    { owner: 'tenant', max_runs: runs_per_tenant, more: {} },
    { owner: 'principal', max_runs: runs_per_principal, more: { created_by: subject } },
  ]
  for (const { owner, max_runs, more } of limits) {
    const filter = { tenant_id, state: { in: open_states }, exchange_id: { exists: false }, ...more }
    if (!(await hasOpenRuns(call, filter, max_runs))) continue
    return refuse(
      'rate_limited',
      `${max_runs} runs of this ${owner} are open, which is the limit: wait until some end, or cancel some`,
    )
  }
  return undefined
}

/** Whether at least `count` runs match. Reads on after a page that ended early, since its runs were large. */
async function hasOpenRuns(call: Call, filter: Filter, count: number): Promise<boolean> {
  let open = 0
  for await (const _ of iterateDocuments(call.store(fusionRuns), { filter, fresh: true, page_size: count }))
    if (++open === count) return true
  return false
}

function buildRun(call: Call, goal: StoredRun['goal'], input: RunInput, { id, value }: Doc<StoredLens>) {
  const { threshold, null_penalty, id_field, consensus, accept_poor } = input
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
    ...(threshold === undefined ? {} : { threshold }),
    ...(null_penalty === undefined ? {} : { null_penalty }),
    ...(id_field === undefined ? {} : { id_field }),
    ...(consensus === undefined ? {} : { consensus }),
    ...(accept_poor ? { accept_poor } : {}),
  }
}

async function checkRunInput(call: Call, input: RunInput): Promise<Refusal | undefined> {
  const noConsensus = input.consensus && !runsConsensus(call) ? [{ path: 'consensus', message: consensusRemedy }] : []
  const faults = [...noConsensus, ...(await findNodeDataFaults(call, input))]
  return faults.length > 0 ? refuse('invalid', 'the run cannot be started', faults) : undefined
}

/** Columns of the inline records of a node: each record is stored with all of them. */
const max_columns = 1_024

function hasMoreColumns(records: readonly NodeRecord[], limit: number): boolean {
  const names = new Set<string>()
  for (const record of records) {
    for (const name of Object.keys(record)) names.add(name)
    if (names.size > limit) return true
  }
  return false
}

async function findNodeDataFaults(call: Call, { node_data }: RunInput): Promise<FieldError[]> {
  const { inline, sources } = splitNodeData(node_data)
  const max_inline = call.settings(settings).inline_records
  const records = [...inline.values()].reduce((sum, { length }) => sum + length, 0)
  const faults: FieldError[] = []
  if (records > max_inline) {
    faults.push({
      path: 'node_data',
      message: `has ${records} records, and may have ${max_inline}: name a data file instead`,
    })
  }
  for (const [position, nodeRecords] of inline) {
    const path = `node_data.${sources[position]?.node_id ?? ''}`
    if (hasMoreColumns(nodeRecords, max_columns))
      faults.push({
        path,
        message: `has records of more than ${max_columns} different columns: name a data file instead`,
      })
  }
  const files = sources.flatMap(({ node_id, file }) => (file === undefined ? [] : [{ node_id, file }]))
  if (files.length === 0) return faults
  const unreadable = await call.part(runWork).findUnreadable(
    call.caller.tenant_id,
    files.map(({ file }) => file),
  )
  for (const { node_id, file } of files) {
    const message = unreadable.get(file)
    if (message !== undefined) faults.push({ path: `node_data.${node_id}.file`, message })
  }
  return faults
}
