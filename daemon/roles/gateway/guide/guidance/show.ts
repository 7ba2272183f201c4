// Guidance as previews show it: under the documented keys, for the kinds of its use.
import type * as z from 'zod'
import type { Artifact } from '../artifact/model.ts'
import type { intentMatch, shownConnection, shownSchema, shownSpec, shownTool } from './model.ts'
import type { IndexedArtifact } from './rules.ts'

type ContentOf<T extends Artifact['type']> = Extract<Artifact, { type: T }>['content']

/** The type of an artifact decides its content. */
function contentsOf<T extends Artifact['type']>(
  artifacts: readonly IndexedArtifact[],
  type: T,
): readonly { readonly id: string; readonly content: ContentOf<T> }[] {
  return artifacts.flatMap(({ id, type: own, attached }) =>
    own === type ? [{ id, content: attached.content as ContentOf<T> }] : [],
  )
}

export function showSchemas(artifacts: readonly IndexedArtifact[]): z.infer<typeof shownSchema>[] {
  return contentsOf(artifacts, 'IntentSchema').map(({ id, content: { intent_class, schema } }) => ({
    ...{ id, intent_class, schema },
  }))
}

export function showTools(artifacts: readonly IndexedArtifact[]): z.infer<typeof shownTool>[] {
  return contentsOf(artifacts, 'CapabilityMap').flatMap(({ content: { service, tools } }) =>
    tools.map(({ name, description_override = null, routing_hint = null }) => ({
      name: name.includes('/') ? name : `${service}/${name}`,
      ...{ description_override, routing_hint },
    })),
  )
}

export function showSpecs(artifacts: readonly IndexedArtifact[]): z.infer<typeof shownSpec>[] {
  return contentsOf(artifacts, 'SpecFragment').map(({ content: { spec_id, body } }) => ({ id: spec_id, content: body }))
}

export function showConnections(artifacts: readonly IndexedArtifact[]): z.infer<typeof shownConnection>[] {
  return contentsOf(artifacts, 'ServiceConnectionHint').map(({ content: { from, to, confidence = 0 } }) => ({
    ...{ from, to, confidence },
  }))
}

/** A score of 1 is the class of intents itself; below, the share of words that the pattern and the intent have together. */
export type MatchedIntent = NonNullable<z.infer<typeof intentMatch>> & { readonly intent_class: string }

/** Undefined: no pattern has a word of it. Of equal scores the first, which is the best by rank. */
export function matchIntent(patterns: readonly IndexedArtifact[], intent: string): MatchedIntent | undefined {
  const words = splitWords(intent)
  let best: MatchedIntent | undefined
  for (const { id, content } of contentsOf(patterns, 'IntentPattern')) {
    const { intent_class } = content
    const score =
      intent_class === intent ? 1 : shareOf(words, new Set(content.words.flatMap((each) => [...splitWords(each)])))
    if (score > (best?.score ?? 0)) best = { pattern_id: id, score, intent_class }
  }
  return best
}

function splitWords(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
}

function shareOf(first: ReadonlySet<string>, second: ReadonlySet<string>): number {
  const shared = [...first].filter((word) => second.has(word)).length
  return shared === 0 ? 0 : (0.99 * shared) / (first.size + second.size - shared)
}
