// The budget of size of attached guidance: which artifacts fit into it, and why the others do not.
import { compareRanks, type Rank } from '../../../../../packages/guidance-client/src/ranking.ts'

/** Why an artifact was held back: its type has more than are attached, or it would not fit beside better ones. */
export const capReasons = ['type_cap', 'bytes', 'tokens'] as const
export type CapReason = (typeof capReasons)[number]

export type AttachBudget = {
  readonly max_bytes: number
  /** Estimated tokens of a model; undefined: no bound. */
  readonly max_tokens?: number | undefined
}

/** Of JSON in UTF-8. Tokenizers differ: texts in English have more bytes in a token, other languages and numbers fewer. */
const bytes_per_token = 4

/** An estimate, rounded up: no tokenizer runs here, since every subscriber may have another model. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / bytes_per_token)
}

type SizedArtifact = { readonly rank: Rank; readonly bytes: number }

/**
 * The best artifacts of all types that fit together, by the sort key of document 002; a large one that does not fit makes room for
 * smaller ones after it. Every other artifact has its reason.
 */
export function fitBudget<T extends SizedArtifact>(
  artifacts: readonly T[],
  { max_bytes, max_tokens = Number.POSITIVE_INFINITY }: AttachBudget,
): { readonly fitting: ReadonlySet<T>; readonly held: ReadonlyMap<T, CapReason> } {
  const fitting = new Set<T>()
  const held = new Map<T, CapReason>()
  let bytes = 0
  let tokens = 0
  for (const artifact of artifacts.toSorted((first, second) => compareRanks(first.rank, second.rank))) {
    const own_tokens = estimateTokens(artifact.bytes)
    if (bytes + artifact.bytes > max_bytes) held.set(artifact, 'bytes')
    else if (tokens + own_tokens > max_tokens) held.set(artifact, 'tokens')
    else {
      bytes += artifact.bytes
      tokens += own_tokens
      fitting.add(artifact)
    }
  }
  return { fitting, held }
}
