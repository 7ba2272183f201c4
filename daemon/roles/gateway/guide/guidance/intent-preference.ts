// Which artifacts are for the intent of a workflow, and under which intents sets of guidance are kept.
import { isWorkflowGuidance } from '../workflow/intents.ts'
import type { IndexedArtifact } from './rules.ts'

/** Stands for all intents of workflows that no artifact is about in particular: they share their sets. */
const any_workflow = ''
/** Of one tenant: workflows of other classes share a set, so that callers cannot make sets by inventing intents. */
const max_intents = 32

/** Artifacts for that intent, or for all of workflows. */
export function preferenceOf(intent: string | undefined): ((artifact: IndexedArtifact) => boolean) | undefined {
  if (intent === undefined) return undefined
  return ({ attached }) => (attached.applicability.intent_class ?? intent) === intent && isWorkflowGuidance(attached)
}

/** Classes of intents of workflows that artifacts are about; undefined: no artifact is for workflows. */
export function findIntents(artifacts: readonly IndexedArtifact[]): ReadonlySet<string> | undefined {
  const forWorkflows = artifacts.filter(({ attached }) => isWorkflowGuidance(attached))
  if (forWorkflows.length === 0) return undefined
  const intents = new Set(forWorkflows.flatMap(({ attached }) => attached.applicability.intent_class ?? []))
  return new Set([...intents].slice(0, max_intents))
}

/** The reader under whose key its set is kept, where artifacts are about these intents. */
export function shareIntent<R extends { readonly intent?: string | undefined }>(
  { intents }: { readonly intents: ReadonlySet<string> | undefined },
  reader: R,
): R {
  if (reader.intent === undefined || intents?.has(reader.intent)) return reader
  return { ...reader, intent: intents && any_workflow }
}
