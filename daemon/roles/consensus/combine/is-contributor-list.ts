// Compares the contributors that a document of a peer names with the policy of its session.
import type { QuorumPolicy } from '../../../shared/quorum-policy/quorum-policy.ts'

/** Whether these are at most n contributors, each once, and only those that the policy names. */
export function isContributorList({ n, contributors }: QuorumPolicy, ids: readonly string[]): boolean {
  if (ids.length > n || new Set(ids).size !== ids.length) return false
  const allowed = contributors && new Set(contributors)
  return ids.every((id) => allowed?.has(id) ?? true)
}
