// All that an attack on guidance must leave as it is: documents of others, what is attached to others, tools, tokens, keys and settings.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { sha256 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { type Doc, type ListQuery, labelKeyOf, type StoredFields } from '../../../daemon/kernel/store/store.ts'
import { chatPart } from '../../../daemon/roles/gateway/chat/parts.ts'
import { guideAudits } from '../../../daemon/roles/gateway/guide/audit/model.ts'
import { graphEdges, graphNodes } from '../../../daemon/roles/gateway/guide/graph/model.ts'
import { guidancePart } from '../../../daemon/roles/gateway/guide/guidance/parts.ts'
import { learningPart } from '../../../daemon/roles/gateway/guide/learning/parts.ts'
import { observations } from '../../../daemon/roles/gateway/guide/observation/model.ts'
import { observerPart } from '../../../daemon/roles/gateway/guide/observation/parts.ts'
import { gateway } from '../../../daemon/roles/gateway/role.ts'
import { type AttackedGuidance, labelOf } from './attacked-guidance.ts'

type Collected = (typeof gateway.collections)[number]
type StoreFilter = NonNullable<ListQuery['filter']>

/** By its name, something that may not change. */
export type GuardedState = ReadonlyMap<string, string>

/** They change with each call of any caller; lineage has the label of what was attached. */
const restless = new Set(['guide_graph_head', 'call_usage', 'guide_lineage_event', 'job_lease'])
/** They grow with what attackers send, which is their own. */
const growing: ReadonlySet<string> = new Set([observations.name, graphNodes.name, graphEdges.name])

export type PlantedDocuments = {
  readonly ids: ReadonlyMap<string, ReadonlySet<string>>
  readonly at: number
}

/** Of every collection of the gateway: the ids of the documents that were there before the attacks. */
export async function listPlanted({ site }: AttackedGuidance): Promise<PlantedDocuments> {
  const ids = new Map<string, ReadonlySet<string>>()
  for (const collection of gateway.collections)
    ids.set(collection.name, new Set((await listAll({ site }, collection, {})).map(({ id }) => id)))
  return { ids, at: site.clock.now() }
}

/** `attackers`: scopes of those who send. In all others nothing may change, or appear. */
export async function readGuarded(
  world: AttackedGuidance,
  { ids, at }: PlantedDocuments,
  attackers: ReadonlySet<string>,
): Promise<GuardedState> {
  const state = new Map<string, string>()
  for (const collection of gateway.collections) {
    if (restless.has(collection.name)) continue
    const isGrowing = growing.has(collection.name)
    const docs = isGrowing ? await listGrowing(world, collection, at, attackers) : await listAll(world, collection, {})
    if (isGrowing) for (const [name, count] of await countOfOthers(world, collection, attackers)) state.set(name, count)
    for (const { id, value } of docs) {
      // Snapshots are taken by the hour.
      const isOfOthers = 'label' in value && !attackers.has(scopeOf(value)) && !('snapshot_id' in value)
      if (isGrowing || ids.get(collection.name)?.has(id) || isOfOthers || isActive(value))
        state.set(`${collection.name} ${id}`, digestOf(value))
    }
  }
  readGuidance(world, state)
  readSite(world, state)
  return state
}

/** Memories that were there before the attacks, and all of the graphs of others. */
async function listGrowing(
  world: AttackedGuidance,
  collection: Collected,
  at: number,
  attackers: ReadonlySet<string>,
): Promise<Doc<StoredFields>[]> {
  if (collection.name === observations.name) return await listAll(world, collection, { create_ts: { lte: at } })
  const docs: Doc<StoredFields>[] = []
  for (const filter of listOthers(attackers)) docs.push(...(await listAll(world, collection, filter)))
  return docs
}

/** Of others nothing may appear either. */
async function countOfOthers({ site }: AttackedGuidance, collection: Collected, attackers: ReadonlySet<string>) {
  const counts: [string, string][] = []
  for (const filter of listOthers(attackers))
    counts.push([
      `${collection.name} of ${JSON.stringify(filter)}`,
      String(await site.store('gateway').count(collection, filter)),
    ])
  return counts
}

function listOthers(attackers: ReadonlySet<string>): { readonly tenant_id: string; readonly label_key: string }[] {
  return scopes
    .map(([tenant_id, level]) => ({
      tenant_id,
      label_key: labelKeyOf({ tenant_id, label: labelOf(level, tenant_id) }),
    }))
    .filter(({ tenant_id, label_key }) => !attackers.has(`${tenant_id} ${label_key}`))
}

const scopes = [
  ['tenant-a', 'TOP_SECRET'],
  ['tenant-a', 'UNCLASSIFIED'],
  ['tenant-b', 'TOP_SECRET'],
] as const

const isActive = (value: object) =>
  'content' in value && 'status' in value && value.status === 'active' && !('artifact_id' in value)
export const scopeOf = (value: StoredFields) => `${value.tenant_id} ${labelKeyOf(value)}`

async function listAll(
  { site }: Pick<AttackedGuidance, 'site'>,
  collection: Collected,
  filter: StoreFilter,
): Promise<Doc<StoredFields>[]> {
  const found: Doc<StoredFields>[] = []
  let cursor: string | undefined
  do {
    const page = await site
      .store('gateway')
      .list(collection, { filter, limit: 500, fresh: true, ...(cursor ? { cursor } : {}) })
    found.push(...(page.docs as Doc<StoredFields>[]))
    cursor = page.next_cursor
  } while (cursor !== undefined)
  return found
}

/** Scores follow every signal, and only order what is attached; cycles follow the time, and records their changes. */
const unsteadyFields: ReadonlySet<string> = new Set([
  ...['evaluator_score', 'score_decomposition', 'low_scores', 'demoted_cycles', 'pending_audit', 'follow_up'],
])

function digestOf(value: StoredFields): string {
  const isArtifact = 'content' in value
  return sha256(JSON.stringify(value, (name, of) => (isArtifact && unsteadyFields.has(name) ? undefined : of)))
}

/** Tenant, level, scope. */
const viewers = [
  ...(['l1', 'l2', 'l3:maps'] as const).map((scope) => ['tenant-a', 'TOP_SECRET', scope] as const),
  ...(['l1', 'l2', 'l3:maps'] as const).map((scope) => ['tenant-a', 'UNCLASSIFIED', scope] as const),
  ...(['l1', 'l2', 'l3:maps'] as const).map((scope) => ['tenant-b', 'TOP_SECRET', scope] as const),
]

/** Of callers that may use every tool, and so are attached the most. */
function readGuidance({ site }: AttackedGuidance, state: Map<string, string>): void {
  const { index, catalogues } = site.part('gateway', guidancePart)
  const usable = catalogues.findUsable(site.part('gateway', chatPart).tools(), new Set(['*']))
  for (const [tenant_id, level, scope] of viewers) {
    const viewer = { tenant_id, clearance: { level, categories: [] } }
    const { block } = index.select({ scope, viewer, usable }, undefined)
    state.set(`guidance of ${tenant_id} ${level} for ${scope}`, showAttached(block))
  }
}

export function showAttached(block: { readonly artifacts: readonly { readonly content: object }[] } | null): string {
  const shown = (block?.artifacts ?? []).map(({ content, ...rest }) => {
    const { evaluator_score: _, score_decomposition: __, ...kept } = content as Record<string, unknown>
    return { ...rest, content: kept }
  })
  // Scores, which every caller's calls change, order them.
  return JSON.stringify(shown.map((each) => JSON.stringify(each)).sort())
}

function readSite({ site }: AttackedGuidance, state: Map<string, string>): void {
  const { folder } = site
  for (const file of [folder.profile, ...listFiles(folder.keys), ...listFiles(folder.identity)])
    state.set(`file ${path.basename(file)}`, createHash('sha256').update(readFileSync(file)).digest('hex'))
  const tools = site.part('gateway', chatPart).tools()
  state.set('tools', JSON.stringify(tools.map(({ operation: { tool, allow, summary } }) => [tool, allow, summary])))
}

function listFiles(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true }) as string[]
  return names.map((name) => path.join(folder, name)).filter((file) => statSync(file).isFile())
}

/** Bounds of a flood, in memory and in one document. */
export async function findExcess(world: AttackedGuidance): Promise<string[]> {
  const { site } = world
  const { queue, book } = site.part('gateway', observerPart)
  const learner = site.part('gateway', learningPart)
  const bounds: [string, number, number][] = [
    ['bytes in the queue', queue.bytes, 0],
    ['nodes of graphs', book.nodes.size, 20_000],
    ['edges of graphs', book.edges.size, 60_000],
    ['assessments', learner.assessments.size, 1_000],
    ['windows', learner.windows.length, 16],
    ...learner.windows.map(({ size }): [string, number, number] => ['traces of a window', size, 1_000]),
  ]
  const order = { field: 'create_ts', direction: 'desc' } as const
  const { docs } = await site.store('gateway').list(observations, { limit: 50, order, fresh: true })
  for (const { id, value } of docs) bounds.push([`characters of ${id}`, JSON.stringify(value).length, 80_000])
  return bounds
    .filter(([, value, most]) => value > most)
    .map(([name, value, most]) => `${name}: ${value}, at most ${most}`)
}

/** Records in the name of an administrator: no attack may make one. */
export async function countAdminRecords({ site }: AttackedGuidance): Promise<number> {
  const { docs } = await site.store('gateway').list(guideAudits, { limit: 500, fresh: true })
  return docs.filter(({ value }) => value.actor.startsWith('admin:')).length
}

export function compareStates(before: GuardedState, after: GuardedState): string[] {
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names]
    .filter((name) => before.get(name) !== after.get(name))
    .map((name) => `${name}: ${before.get(name) ?? 'absent'} became ${after.get(name) ?? 'absent'}`.slice(0, 600))
}
