// Finds active artifacts that say much the same, and proposes one in place of each group of them.
import { isRefusal, type Refusal } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Worker } from '../../../../kernel/role/role.ts'
import { runInSlices } from '../../../../kernel/role/run-in-slices.ts'
import { iterateDocuments } from '../../../../kernel/store/iterate-documents.ts'
import { type Doc, labelKeyOf } from '../../../../kernel/store/store.ts'
import { isAboveCeiling } from '../../chat/rules.ts'
import { type Artifact, artifacts } from '../artifact/model.ts'
import { findProposed, type ProposedArtifact, proposeArtifact } from '../artifact/propose-artifact.ts'
import { guideModelPart } from '../chat/parts.ts'
import { isPaused } from '../curator/check-paused.ts'
import { guideSettings } from '../settings.ts'
import { clusterVectors, toUnit, type UnitVector } from '../similarity/rules.ts'
import { synthesisPart } from '../synthesis/parts.ts'
import { hasProse, mergeByModel } from './merge-by-model.ts'
import { coalescerFailureTotal, coalescerProposalTotal } from './metrics.ts'
import { mergeApplicability, mergeContents, rankArtifacts } from './rules.ts'

/** Artifacts of one run, with their vectors in memory: 40 MB. */
const max_artifacts = 10_000
const page_size = 20
/** Of one scope: two million comparisons. Those that changed last; the others come in later runs, as these are merged. */
const max_compared = 2_000
/** Artifacts that one proposal may supersede. */
const max_group = 256

/** Looks every minute whether a run is due; the settings say how far runs are apart. */
export const coalesce: Worker = {
  name: 'guide-coalesce',
  when: { every_ms: 60_000 },
  async run(call) {
    const { coalescer_enabled, coalescer_interval } = call.settings(guideSettings)
    if (
      !coalescer_enabled ||
      call.now() < (lastRuns.get(call.site) ?? Number.NEGATIVE_INFINITY) + coalescer_interval * 1_000
    )
      return
    lastRuns.set(call.site, call.now())
    await coalesceArtifacts(call)
  },
}

/** Of this process: a run too many repeats the proposals of the one before, which are there already. */
const lastRuns = new WeakMap<Call['site'], number>()

type ClusterMember = { readonly id: string; readonly unit: UnitVector }
type MergeScope = { readonly tenant_id: string; readonly members: ClusterMember[] }

/** Resolves with the number of new proposals. The limit of a run is that of each tenant: none takes the share of others. */
export async function coalesceArtifacts(call: Call): Promise<number> {
  const { coalescer_threshold, coalescer_max_clusters_per_run } = call.settings(guideSettings)
  const terms = { threshold: coalescer_threshold, max_size: max_group }
  const proposed = new Map<string, number>()
  for (const { tenant_id, members } of (await loadScopes(call)).values()) {
    if (members.length < 2) continue
    for (const group of await runInSlices(call, clusterVectors(members, terms))) {
      const count = proposed.get(tenant_id) ?? 0
      if (count >= coalescer_max_clusters_per_run) break
      if (await proposeMerger(call, group)) proposed.set(tenant_id, count + 1)
    }
  }
  return [...proposed.values()].reduce((sum, count) => sum + count, 0)
}

/** By tenant, label, type, service, tool and model of the vector: artifacts of different ones are never merged. */
async function loadScopes(call: Call): Promise<Map<string, MergeScope>> {
  const scopes = new Map<string, MergeScope>()
  const paused = new Map<string, boolean>()
  let loaded = 0
  for await (const { id, value } of iterateDocuments(call.store(artifacts), {
    filter: { status: 'active' },
    order: { field: 'update_ts', direction: 'desc' },
    page_size,
  })) {
    if (loaded++ >= max_artifacts) break
    if (loaded % page_size === 0) await call.pause()
    call.signal.throwIfAborted()
    const { tenant_id, type, service_name = null, tool_name = null, content } = value
    const isOff = paused.get(tenant_id) ?? (await isPaused(call, tenant_id))
    paused.set(tenant_id, isOff)
    const unit = content.embedding_vector && toUnit(content.embedding_vector)
    if (isOff || !unit) continue
    const key = JSON.stringify([tenant_id, labelKeyOf(value), type, service_name, tool_name, content.embedding_model])
    const known = scopes.get(key)
    if (!known) scopes.set(key, { tenant_id, members: [{ id, unit }] })
    else if (known.members.length < max_compared) known.members.push({ id, unit })
  }
  return scopes
}

/** Whether it is a new one: the same group is proposed once, whatever became of that proposal. */
async function proposeMerger(call: Call, members: readonly ClusterMember[]): Promise<boolean> {
  const group: Doc<Artifact>[] = []
  for (const { id } of members) {
    const doc = await call.store(artifacts).find(id)
    if (doc?.value.status === 'active') group.push(doc)
    await call.pause()
  }
  const [first, ...others] = rankArtifacts(group)
  if (!first || others.length === 0) return false
  const draft = draftMerger([first, ...others])
  const outcome = await proposeMerged(call, [first, ...others], draft)
  if (outcome === 'later') return false
  if (isRefusal(outcome)) {
    call.log.warn('gateway.guide.coalescer.merge-failed', {
      artifacts: group.map(({ id }) => id),
      why: outcome.message,
    })
    call.count(coalescerFailureTotal, {})
    return false
  }
  if (outcome.isNew) call.count(coalescerProposalTotal, {})
  return outcome.isNew
}

type RankedGroup = readonly [Doc<Artifact>, ...Doc<Artifact>[]]

/** With the words of the layer's model where the site has one. `later`: the budget of the model is spent. */
async function proposeMerged(
  call: Call,
  group: RankedGroup,
  draft: ReturnType<typeof draftMerger>,
): Promise<ProposedArtifact | Refusal | 'later'> {
  const ground = { actor: 'curator_auto', trigger: 'synthesis_proposal' } as const
  const { own } = call.part(guideModelPart)
  if (!own || !hasProse(draft.type) || isAboveModel(call, draft)) return await proposeArtifact(call, draft, ground)
  const known = await findProposed(call, draft)
  if (known) return { doc: known, isNew: false }
  if (!call.part(synthesisPart).spend(draft.tenant_id, call.now())) return 'later'
  try {
    const content = await mergeByModel(call, own, group, draft.content)
    return isRefusal(content) ? content : await proposeArtifact(call, { ...draft, content }, ground)
  } catch (error) {
    if (isRefusal(error)) return error
    throw error
  }
}

/** Such artifacts are merged by rules. */
function isAboveModel(call: Call, { label }: Pick<Artifact, 'label'>): boolean {
  const { model_label_ceiling } = call.settings(guideSettings)
  return label !== undefined && isAboveCeiling(label, call.site.labels.levels, model_label_ceiling)
}

function draftMerger(ranked: RankedGroup) {
  const [{ value }] = ranked
  const ids = ranked.map(({ id }) => id).toSorted()
  return {
    ...{ tenant_id: value.tenant_id, label: value.label, type: value.type, content: mergeContents(ranked) },
    ...{ service_name: value.service_name, tool_name: value.tool_name, applicability: mergeApplicability(ranked) },
    rationale: `Merges ${ids.length} artifacts that say much the same. ${value.rationale}`.slice(0, 8_192),
    supersedes: ids,
    trace_ids: [...new Set(ranked.flatMap(({ value: each }) => each.trace_ids))].slice(0, 64),
    key: `merger ${ids.join(' ')}`,
  }
}
