// The last contributions of a session as they are stored within it: short, since each new one writes them all again.
import type * as z from 'zod'
import { canonicalDigest } from '../../../../kernel/encoding/canonical-json.ts'
import { type Label, label } from '../../../../kernel/label/label.ts'
import { type Contribution, contribution } from './model.ts'

/** Ordinal and digest follow from the rest; an absent classification is that of the one before. */
export const recentContribution = contribution
  .omit({ ordinal: true, digest: true, classification: true })
  .extend({ classification: label.optional() })
type RecentContribution = z.infer<typeof recentContribution>

type ContributionTail = { readonly contributions: number; readonly recent: readonly RecentContribution[] }

export type SubmittedContribution = Omit<Contribution, 'ordinal' | 'digest'>

/** The content of a contribution, whoever submitted it and whenever: what makes two of them the same. */
export function contributionDigest(
  given: Pick<
    SubmittedContribution,
    'accuracy' | 'classification' | 'contributor_id' | 'credibility' | 'pair_score' | 'signer_key_id'
  >,
): string {
  const { accuracy, classification, contributor_id, credibility, pair_score, signer_key_id } = given
  return canonicalDigest({ accuracy, classification, contributor_id, credibility, pair_score, signer_key_id })
}

/** The stored ones with one more, and without the first `droppedHeaders`. */
export function appendRecent(
  recent: readonly RecentContribution[],
  given: SubmittedContribution,
  dropped: number,
): RecentContribution[] {
  const kept = recent.slice(dropped)
  const first = kept[0]
  if (first && !first.classification) kept[0] = { ...first, classification: labelAt(recent, dropped) }
  const { classification, ...rest } = given
  kept.push(labelAt(kept, kept.length - 1) === classification ? rest : given)
  return kept
}

/** The stored ones in full. @throws Error when the first has no classification, which is never stored. */
export function expandRecent({ contributions, recent }: ContributionTail): Contribution[] {
  return recent.map((stored, at) => {
    const classification = labelAt(recent, at)
    if (!classification) throw new Error('a stored contribution has no classification')
    const given: SubmittedContribution = { ...stored, classification }
    return { ...given, ordinal: contributions - recent.length + at + 1, digest: contributionDigest(given) }
  })
}

function labelAt(recent: readonly RecentContribution[], at: number): Label | undefined {
  for (let place = at; place >= 0; place--) {
    const held = recent[place]?.classification
    if (held) return held
  }
  return undefined
}
