// The proposal of a miner: an artifact without the fields that the curator adds.
import type { Artifact } from '../artifact/model.ts'

type MinedOf<A> = A extends Artifact ? Pick<A, 'type' | 'content' | 'applicability' | 'rationale' | 'trace_ids'> : never

/** `key`: the finding apart from its numbers, so that it is found again as the same artifact. */
export type MinedArtifact = MinedOf<Artifact> & {
  readonly key: string
  readonly service_name?: string
  readonly tool_name?: string
}
