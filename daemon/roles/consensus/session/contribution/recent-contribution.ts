// The newest contributions of a session, as stored within it: shortened, since each change writes all of them again.
import type * as z from 'zod'
import { canonicalDigest } from '../../../../kernel/encoding/canonical-json.ts'
import { type Label, label } from '../../../../kernel/label/label.ts'
import { type Contribution, contribution } from './model.ts'

/** Ordinal and digest are derived; an absent classification equals that of the contribution before. */
export const recentContribution = contribution
  .omit({ ordinal: true, digest: true, classification: true })
  .extend({ classification: label.optional() })
type RecentContribution = z.infer<typeof recentContribution>

type ContributionTail = { readonly contributions: number; readonly recent: readonly RecentContribution[] }

export type SubmittedContribution = Omit<Contribution, 'ordinal' | 'digest'>

/** Digest of the content, independent of submitter and time: equal digests are the same contribution. */
export function contributionDigest(
  contribution: Pick<
    SubmittedContribution,
    'accuracy' | 'classification' | 'contributor_id' | 'credibility' | 'pair_score' | 'signer_key_id'
  >,
): string {
  const { accuracy, classification, contributor_id, credibility, pair_score, signer_key_id } = contribution
  return canonicalDigest({ accuracy, classification, contributor_id, credibility, pair_score, signer_key_id })
}

/** The recent contributions with one more, and without the first `dropped`. */
export function appendRecent(
  recent: readonly RecentContribution[],
  contribution: SubmittedContribution,
  dropped: number,
): RecentContribution[] {
  const remaining = recent.slice(dropped)
  const first = remaining[0]
  if (first && !first.classification) remaining[0] = { ...first, classification: labelAt(recent, dropped) }
  const { classification, ...rest } = contribution
  remaining.push(labelAt(remaining, remaining.length - 1) === classification ? rest : contribution)
  return remaining
}

/** The recent contributions in full. @throws Error when the first has no classification, which is never stored. */
export function expandRecent(tail: ContributionTail): Contribution[] {
  return tail.recent.map((stored, at) => expand(tail, stored, at))
}

/** The recent contribution at this index in full; undefined when there is none. */
export function expandRecentAt(tail: ContributionTail, at: number | undefined): Contribution | undefined {
  const stored = at === undefined ? undefined : tail.recent[at]
  return stored && at !== undefined ? expand(tail, stored, at) : undefined
}

function expand({ contributions, recent }: ContributionTail, stored: RecentContribution, at: number): Contribution {
  const classification = labelAt(recent, at)
  if (!classification) throw new Error('a stored contribution has no classification')
  const submitted: SubmittedContribution = { ...stored, classification }
  return { ...submitted, ordinal: contributions - recent.length + at + 1, digest: contributionDigest(submitted) }
}

function labelAt(recent: readonly RecentContribution[], at: number): Label | undefined {
  for (let place = at; place >= 0; place--) {
    const label = recent[place]?.classification
    if (label) return label
  }
  return undefined
}
