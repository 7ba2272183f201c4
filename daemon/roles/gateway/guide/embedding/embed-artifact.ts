// The vector of an artifact, of what it says: not of how it is ranked.
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Artifact } from '../artifact/model.ts'
import type { Embedding } from '../artifact/rules.ts'
import { embedderPart } from './parts.ts'

/** Of the text that a model gets. */
const max_text_characters = 16_384

const ranking_keys: ReadonlySet<string> = new Set([
  ...['evaluator_score', 'confidence', 'weight', 'score_decomposition', 'embedding_vector', 'embedding_model'],
  ...['support', 'success_rate', 'baseline_rate', 'failure_rate'],
])

/** Undefined without one: promotion succeeds all the same, and similarity leaves the artifact out. */
export async function embedArtifact(call: Call, id: string, { content }: Artifact): Promise<Embedding | undefined> {
  const model = call.part(embedderPart)
  if (content.embedding_model === model.name && content.embedding_vector) return undefined
  try {
    const vector = await model.embed({ text: textOf(content), signal: call.signal, trace: call.trace })
    return { vector, model: model.name }
  } catch (error) {
    call.log.warn('gateway.guide.embedding.failed', { artifact: id, model: model.name, error: String(error) })
    return undefined
  }
}

/** The texts of the content, in the order of their keys. */
export function textOf(content: Readonly<Record<string, unknown>>): string {
  const texts: string[] = []
  let left = max_text_characters
  for (const key of Object.keys(content).toSorted()) {
    if (ranking_keys.has(key)) continue
    for (const text of textsOf(content[key])) {
      if (left <= 0) return texts.join('\n')
      texts.push(text.slice(0, left))
      left -= text.length + 1
    }
  }
  return texts.join('\n')
}

function* textsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'number' || typeof value === 'boolean') yield String(value)
  else if (Array.isArray(value)) for (const each of value) yield* textsOf(each)
  else if (value !== null && typeof value === 'object')
    for (const [key, each] of Object.entries(value)) {
      yield key
      yield* textsOf(each)
    }
}
