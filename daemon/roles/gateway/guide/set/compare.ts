// Compares the artifacts of a set with what is active here: what is new, changed, the same, or in conflict.
import { canonicalJson } from '../../../../kernel/encoding/canonical-json.ts'
import type { Artifact, ArtifactOrigin } from '../artifact/model.ts'
import type { CarriedArtifact } from './format.ts'

/** An active artifact of this site. */
export type KnownArtifact = Pick<Artifact, 'type' | 'service_name' | 'tool_name' | 'applicability'> & {
  readonly id: string
  readonly content: Readonly<Record<string, unknown>>
  readonly origin?: ArtifactOrigin | undefined
}

/** `conflict`: this site has decided otherwise, or has guidance of its own about the same thing. */
export type SetComparisonState = 'new' | 'changed' | 'same' | 'conflict'
export type ArtifactComparison = {
  readonly state: SetComparisonState
  /** The active ones that it was compared with. */
  readonly with: readonly string[]
  readonly detail: string
}

export type KnownArtifacts = {
  readonly byOrigin: ReadonlyMap<string, KnownArtifact>
  readonly bySubject: ReadonlyMap<string, readonly KnownArtifact[]>
}

/** Members by which artifacts of a type are about the same thing; of other types, only equal ones are. */
const subjectMembers: Readonly<Record<string, readonly string[]>> = {
  CapabilityMap: ['service'],
  DecisionTrajectory: ['intent_class'],
  FailurePattern: ['tool', 'argument', 'value'],
  IntentPattern: ['intent_class'],
  IntentSchema: ['intent_class'],
  ServiceConnectionHint: ['from', 'to'],
  SpecFragment: ['spec_id'],
  ToolPairingHint: ['tool', 'next_tool'],
}

const rankingMembers = [
  'confidence',
  'evaluator_score',
  'weight',
  'score_decomposition',
  'embedding_vector',
  'embedding_model',
]

type Subject = Pick<KnownArtifact, 'type' | 'service_name' | 'tool_name' | 'applicability' | 'content'>

function subjectKey({ type, service_name, tool_name, applicability, content }: Subject): string {
  const members = subjectMembers[type]?.map((member) => content[member] ?? null) ?? [claimOf(content)]
  return JSON.stringify([type, service_name ?? null, tool_name ?? null, applicability.intent_class ?? null, ...members])
}

/** The content without what ranks it. */
function claimOf(content: Readonly<Record<string, unknown>>): string {
  return canonicalJson(Object.fromEntries(Object.entries(content).filter(([name]) => !rankingMembers.includes(name))))
}

const originKey = (site: string, artifact_id: string) => `${site} ${artifact_id}`

export function indexKnown(known: readonly KnownArtifact[]): KnownArtifacts {
  const byOrigin = new Map<string, KnownArtifact>()
  for (const each of known) if (each.origin) byOrigin.set(originKey(each.origin.site, each.origin.artifact_id), each)
  return { byOrigin, bySubject: Map.groupBy(known, subjectKey) }
}

/** The active artifact that an earlier set of the same site has brought. */
export function findPredecessor(known: KnownArtifacts, site: string, artifact_id: string): KnownArtifact | undefined {
  return known.byOrigin.get(originKey(site, artifact_id))
}

/** `status`: of the very same artifact here, from an earlier set. */
export function compareArtifact(
  carried: CarriedArtifact,
  site: string,
  known: KnownArtifacts,
  status: Artifact['status'] | undefined,
): ArtifactComparison {
  const before = findPredecessor(known, site, carried.artifact_id)
  const alike = (known.bySubject.get(subjectKey(carried)) ?? []).filter((each) => each !== before)
  const equal = alike.find(({ content }) => claimOf(content) === claimOf(carried.content))
  const ids = [...(before ? [before] : []), ...alike].slice(0, max_named).map(({ id }) => id)
  if (status === 'active') return { state: 'same', with: ids, detail: 'it is active here' }
  if (status === 'demoted' || status === 'forgotten')
    return { state: 'conflict', with: ids, detail: `it is ${status} here` }
  if (equal) return { state: 'same', with: [equal.id], detail: 'an active artifact says the same' }
  if (alike.length > 0) return { state: 'conflict', with: ids, detail: 'an active artifact is about the same thing' }
  return before
    ? { state: 'changed', with: ids, detail: `version ${before.origin?.version ?? 0} of it is active here` }
    : { state: 'new', with: [], detail: 'nothing active is about it' }
}

const max_named = 16
