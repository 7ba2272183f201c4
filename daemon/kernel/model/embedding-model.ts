// The contract of models that turn text into vectors, so that texts can be compared by the cosine of theirs.
import type { Trace } from '../telemetry/trace.ts'

export type EmbeddingRequest = { readonly text: string; readonly signal: AbortSignal; readonly trace: Trace }

export interface EmbeddingModel {
  /** Recorded beside each vector: those of different models are never compared. */
  readonly name: string
  /** Throws `Refusal('unavailable')` or `Refusal('timeout')` where an endpoint fails. */
  embed(request: EmbeddingRequest): Promise<readonly number[]>
}

/** Of any model that is used. */
export const max_embedding_dimension = 4_096
