// Compares the contributors that a document of a peer names with the policy of its session.
import type { QuorumPolicy } from '../../../shared/quorum-policy/quorum-policy.ts'

/**
 * Whether these are at most n contributors, each once, and only those that the policy names. `voters`: what tells the contributors
 * apart, where a contributor of the origin may have the name of a peer's tenant; a policy that names its contributors means one each.
 */
export function isContributorList(
  { n, contributors }: QuorumPolicy,
  ids: readonly string[],
  voters: readonly string[] = ids,
): boolean {
  if (ids.length > n || new Set(contributors ? ids : voters).size !== ids.length) return false
  const allowed = contributors && new Set(contributors)
  return ids.every((id) => allowed?.has(id) ?? true)
}
