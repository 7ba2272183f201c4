// Pure decisions of guidance: which artifacts a scope gets, in which order and number, and how they are summarised.
import type { AttachedArtifact } from '../../../../../packages/guidance-client/src/guidance-block.ts'
import { compareRanks, type Rank, rankOf } from '../../../../../packages/guidance-client/src/ranking.ts'
import { type Label, labelKey } from '../../../../kernel/label/label.ts'
import type { ArtifactType } from '../artifact/content.ts'
import type { Artifact } from '../artifact/model.ts'
import { type AttachBudget, type CapReason, fitBudget } from '../budget/rules.ts'
import type { GuidanceScope } from './model.ts'

/** An active artifact with all that deciding about it needs, derived once. */
export type IndexedArtifact = {
  readonly id: string
  readonly type: ArtifactType
  readonly tenant_id: string
  /** Undefined: for the whole tenant. */
  readonly label: Label | undefined
  readonly label_key: string
  readonly service_name: string | undefined
  readonly supersedes: readonly string[]
  readonly rank: Rank
  /** `<service>/<tool>`: a subscriber that may not use one of them does not get the artifact. */
  readonly tools: readonly string[]
  readonly services: readonly string[]
  readonly attached: AttachedArtifact
  readonly bytes: number
}

/** The gateway itself is in reach of every subscriber. */
const own_service = 'gateway'

/** Types that subscribers use. The others are records of the layer itself, and are never attached. */
export const attachableTypes = [
  'CapabilityMap',
  'DecisionTrajectory',
  'FailurePattern',
  'IntentPattern',
  'IntentSchema',
  'PromptShim',
  'ServiceConnectionHint',
  'SpecFragment',
  'ToolPairingHint',
] as const satisfies readonly ArtifactType[]
export type AttachableType = (typeof attachableTypes)[number]

/** Texts for one subscriber; the other types say how tools and services are used, which concerns all that use them. */
const addressedTypes: ReadonlySet<ArtifactType> = new Set(['IntentSchema', 'PromptShim', 'SpecFragment'])

export function indexArtifact(id: string, artifact: Artifact): IndexedArtifact {
  const { type, tenant_id, version, applicability, rationale, service_name, tool_name, supersedes } = artifact
  const { embedding_vector: _, embedding_model: __, ...content } = artifact.content
  const attached = { id, type, version, content, applicability, rationale }
  const { tools, services } = findReferences(artifact)
  const place = service_name !== undefined && tool_name !== undefined ? [`${service_name}/${tool_name}`] : []
  return {
    ...{ id, type, tenant_id, service_name, attached, services },
    label: artifact.label,
    label_key: artifact.label ? labelKey(artifact.label) : '',
    supersedes: supersedes.filter((each) => each !== id),
    rank: rankOf(artifact),
    tools: [...new Set([...tools, ...place])],
    bytes: Buffer.byteLength(JSON.stringify(attached)),
  }
}

type References = { readonly tools: readonly string[]; readonly services: readonly string[] }

/** The tools and services that the content names. */
export function findReferences(artifact: {
  readonly type: ArtifactType
  readonly content: Readonly<Record<string, unknown>>
}): References {
  return referencesOf(artifact as unknown as Artifact)
}

function referencesOf(artifact: Artifact): References {
  switch (artifact.type) {
    case 'ToolPairingHint':
      return { tools: [artifact.content.tool, artifact.content.next_tool], services: [] }
    case 'FailurePattern':
      return { tools: [artifact.content.tool], services: [] }
    case 'ServiceConnectionHint':
      return { tools: [], services: [artifact.content.from, artifact.content.to] }
    case 'CapabilityMap': {
      const { service, tools } = artifact.content
      return { tools: tools.map(({ name }) => qualifyName(service, name)), services: [service] }
    }
    case 'IntentPattern':
      return { tools: artifact.content.operations.filter(isToolLabel), services: [] }
    case 'DecisionTrajectory':
      return { tools: artifact.content.steps.filter(isToolLabel), services: [] }
    default:
      return { tools: [], services: [] }
  }
}

const isToolLabel = (label: string) => label.includes('/')
const qualifyName = (service: string, name: string) => (isToolLabel(name) ? name : `${service}/${name}`)

/** By type, then rank, the best first; of equal ones by id, so that every process has the same order. */
export function compareArtifacts(first: IndexedArtifact, second: IndexedArtifact): number {
  if (first.type !== second.type) return first.type < second.type ? -1 : 1
  return compareRanks(first.rank, second.rank) || (first.id < second.id ? -1 : 1)
}

/** An agent gets what belongs to its service. A text that belongs to a service goes to that service alone. */
export function isAddressedTo(
  scope: GuidanceScope,
  { type, service_name }: { readonly type: ArtifactType; readonly service_name?: string | undefined },
): boolean {
  if (scope === 'l3') return service_name !== undefined
  if (scope.startsWith('l3:')) return service_name === scope.slice('l3:'.length)
  if (!addressedTypes.has(type) || service_name === undefined) return true
  return scope === 'l2' && service_name === own_service
}

/** The tools that a subscriber may use, as `<service>/<tool>`, and their services. */
export type UsableTools = { readonly tools: ReadonlySet<string>; readonly services: ReadonlySet<string> }

export function isUsable({ tools, services }: IndexedArtifact, usable: UsableTools): boolean {
  return (
    tools.every((tool) => usable.tools.has(tool)) &&
    services.every((service) => service === own_service || usable.services.has(service))
  )
}

export type SelectionTerms = AttachBudget & {
  readonly caps: Readonly<Record<AttachableType, number>>
  /** Whether the subscriber may have it: label, tools, scope, not superseded. */
  readonly mayHave: (artifact: IndexedArtifact) => boolean
  /** Whether it is chosen before others of its type where the cap does not let all of them through. */
  readonly isPreferred?: ((artifact: IndexedArtifact) => boolean) | undefined
  /** Whether there is no more time; then there is no selection. */
  readonly isLate?: () => boolean
}

export type Selection = {
  /** By type, then rank. */
  readonly attached: readonly IndexedArtifact[]
  /** Those that a cap or the budget of size held back, by type, then rank; at most `max_capped_listed` of a type. */
  readonly capped: readonly IndexedArtifact[]
  /** Those that this trace goes without, so that their effect is measured. */
  readonly held_out?: readonly IndexedArtifact[]
  /** All of those that are capped, by type. */
  readonly cappedCounts: ReadonlyMap<ArtifactType, number>
  /** Of capped artifacts that their type has room for. */
  readonly heldByBudget: ReadonlyMap<IndexedArtifact, CapReason>
}

/** Of one type; the others are counted. */
const max_capped_listed = 10

/** Looks at the time after so many artifacts. */
const artifacts_per_look = 128

/** `candidates`: by type, each in the order of `compareArtifacts`. Undefined: it was late. */
export function selectGuidance(
  candidates: ReadonlyMap<ArtifactType, readonly IndexedArtifact[]>,
  { caps, mayHave, isPreferred, isLate = () => false, ...budget }: SelectionTerms,
): Selection | undefined {
  const within: IndexedArtifact[] = []
  const capped = new CappedArtifacts()
  for (const type of attachableTypes) {
    const ofType: IndexedArtifact[] = []
    for (const [at, artifact] of (candidates.get(type) ?? []).entries()) {
      if (at % artifacts_per_look === 0 && isLate()) return undefined
      if (mayHave(artifact)) ofType.push(artifact)
    }
    const chosen = chooseWithinCap(ofType, caps[type], isPreferred)
    within.push(...chosen)
    if (chosen.length === ofType.length) continue
    const isChosen = new Set(chosen)
    for (const artifact of ofType) if (!isChosen.has(artifact)) capped.addOverCap(artifact)
  }
  const { fitting, held } = fitBudget(within, budget)
  for (const artifact of held.keys()) capped.addOverBudget(artifact)
  const attached = within.filter((artifact) => fitting.has(artifact))
  return { attached, capped: capped.list(), cappedCounts: capped.counts, heldByBudget: held }
}

/** By rank, as all of them are: a preference decides which are within the cap, and not their order. */
function chooseWithinCap(
  ofType: readonly IndexedArtifact[],
  cap: number,
  isPreferred: SelectionTerms['isPreferred'],
): readonly IndexedArtifact[] {
  if (!isPreferred || ofType.length <= cap) return ofType.slice(0, cap)
  const preferred: IndexedArtifact[] = []
  const others: IndexedArtifact[] = []
  for (const artifact of ofType) {
    if (preferred.length === cap) break
    if (isPreferred(artifact)) preferred.push(artifact)
    else if (others.length < cap) others.push(artifact)
  }
  return [...preferred, ...others.slice(0, cap - preferred.length)].sort(compareArtifacts)
}

class CappedArtifacts {
  readonly counts = new Map<ArtifactType, number>()
  readonly #listed: IndexedArtifact[] = []

  /** Called in the order of ranks: what a summary never names is only counted. */
  addOverCap(artifact: IndexedArtifact): void {
    const before = this.counts.get(artifact.type) ?? 0
    this.counts.set(artifact.type, before + 1)
    if (before < max_capped_listed) this.#listed.push(artifact)
  }

  addOverBudget(artifact: IndexedArtifact): void {
    this.counts.set(artifact.type, (this.counts.get(artifact.type) ?? 0) + 1)
    this.#listed.push(artifact)
  }

  list(): readonly IndexedArtifact[] {
    const ofTypes = Map.groupBy(this.#listed.sort(compareArtifacts), ({ type }) => type)
    return [...ofTypes.values()].flatMap((ofType) => ofType.slice(0, max_capped_listed))
  }
}

/** Ids of a type, or of those held back, that a summary names. */
const summarised_ids = 5

/**
 * `FailurePattern: 2 (a, b); PromptShim: 6 (c, d, e, f, g, +1); +3 capped (h, i, j)`: types in alphabetical order, artifacts by
 * rank. Empty for no artifacts.
 */
export function summariseSelection({ attached, capped, cappedCounts }: Selection): string {
  const parts: string[] = []
  for (const [type, ofType] of Map.groupBy(attached, (artifact) => artifact.type)) {
    const ids = ofType.map(({ id }) => id)
    parts.push(`${type}: ${ids.length} (${listIds(ids, ids.length)})`)
  }
  parts.sort()
  const held = [...cappedCounts.values()].reduce((sum, count) => sum + count, 0)
  const ids = capped.map(({ id }) => id)
  if (held > 0) parts.push(`+${held} capped (${listIds(ids, held)})`)
  return parts.join('; ')
}

function listIds(ids: readonly string[], count: number): string {
  const named = ids.slice(0, summarised_ids)
  return (count > named.length ? [...named, `+${count - named.length}`] : named).join(', ')
}
