// Explains "there is no such object": its id as it was typed, and the command that lists or creates such objects.
import type { Refusal } from '../../daemon/kernel/error/errors.ts'
import { readMissingKind } from '../../daemon/kernel/error/missing-object.ts'
import { type AnyOperation, pathParameters } from '../../daemon/kernel/operation/operation.ts'
import { ExplainedRefusal } from './explained-refusal.ts'

type ObjectKind = {
  /** The object in words, where the name of the collection is another. */
  readonly noun?: string
  /** The input that has the id (default: the last one of the path). */
  readonly field?: string
  readonly next: (id: string) => string
}

const listedBy = (words: string) => () => `platform ${words} lists them`

/** By the name of the collection. */
export const objectKinds: Readonly<Record<string, ObjectKind>> = {
  lens: { field: 'lens_id', next: (id) => `platform resolve lens create ${id}` },
  session: { next: listedBy('consensus list') },
  evidence: { noun: 'evidence block', next: listedBy('consensus list --state RATIFIED') },
  dissent: { noun: 'dissent record', next: listedBy('consensus list --state IN_CONFLICT') },
  emission: { noun: 'decision', next: listedBy('consensus emissions') },
  signal: { next: listedBy('signal list') },
  insight: { next: listedBy('insight list') },
  silence: { next: listedBy('signal silence list') },
  bulk: { noun: 'bulk disposition', next: listedBy('signal bulk list') },
  signal_source: { noun: 'source', next: listedBy('signal source list') },
  fusion_run: { noun: 'run', next: listedBy('resolve runs') },
  fusion_exchange: { noun: 'exchange', next: listedBy('resolve exchange list') },
  entity_match: { noun: 'match', next: listedBy('resolve matches') },
  entity_cluster: { noun: 'cluster', next: listedBy('resolve clusters') },
  dataeffect: { noun: 'effect', next: listedBy('ingest effect list') },
  node: { next: listedBy('hub nodes') },
  service: { next: listedBy('gateway services') },
  chat_conversation: { noun: 'conversation', next: listedBy('chat --list') },
  release_request: { noun: 'release request', next: listedBy('filedrop quarantine list') },
}

/** The refusal with the id and the next step; unchanged where it is about something else. */
export function explainMissingObject(
  refusal: Refusal,
  operation: AnyOperation,
  input: Readonly<Record<string, unknown>>,
): Refusal {
  const name = readMissingKind(refusal) ?? ''
  const kind = Object.hasOwn(objectKinds, name) ? objectKinds[name] : undefined
  if (!kind) return refusal
  const { field = pathParameters(operation.path).at(-1) ?? '', noun = name, next } = kind
  const id = input[field]
  if (typeof id !== 'string') return refusal
  // A lens is created by the person who misses it; other objects arise from work.
  const yet = name === 'lens' ? ' yet' : ''
  return new ExplainedRefusal('not_found', `No ${noun} ${JSON.stringify(id)} on the service${yet}: ${next(id)}`)
}
