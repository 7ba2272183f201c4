// The last contributions of a session as they are stored within it: short, since each new one writes them all again.
import type * as z from 'zod'
import { digestOf } from '../../../kernel/canonical.ts'
import { type Label, label } from '../../../kernel/label.ts'
import { type Contribution, contribution } from './model.ts'

/** Ordinal and digest follow from the rest; an absent classification is that of the one before. */
export const recentContribution = contribution
  .omit({ ordinal: true, digest: true, classification: true })
  .extend({ classification: label.optional() })
type Recent = z.infer<typeof recentContribution>

type Kept = { readonly contributions: number; readonly recent: readonly Recent[] }

export type Given = Omit<Contribution, 'ordinal' | 'digest'>

/** The content of a contribution, whoever submitted it and whenever: what makes two of them the same. */
export function contributionDigest(
  given: Pick<Given, 'accuracy' | 'classification' | 'contributor_id' | 'credibility' | 'pair_score' | 'signer_key_id'>,
): string {
  const { accuracy, classification, contributor_id, credibility, pair_score, signer_key_id } = given
  return digestOf({ accuracy, classification, contributor_id, credibility, pair_score, signer_key_id })
}

/** The stored ones with one more, and without the first `dropped`. */
export function withRecent(recent: readonly Recent[], given: Given, dropped: number): Recent[] {
  const kept = recent.slice(dropped)
  const first = kept[0]
  if (first && !first.classification) kept[0] = { ...first, classification: labelAt(recent, dropped) }
  const { classification, ...rest } = given
  kept.push(labelAt(kept, kept.length - 1) === classification ? rest : given)
  return kept
}

/** The stored ones in full. @throws Error when the first has no classification, which is never stored. */
export function recentOf({ contributions, recent }: Kept): Contribution[] {
  return recent.map((stored, at) => {
    const classification = labelAt(recent, at)
    if (!classification) throw new Error('a stored contribution has no classification')
    const given: Given = { ...stored, classification }
    return { ...given, ordinal: contributions - recent.length + at + 1, digest: contributionDigest(given) }
  })
}

function labelAt(recent: readonly Recent[], at: number): Label | undefined {
  for (let place = at; place >= 0; place--) {
    const held = recent[place]?.classification
    if (held) return held
  }
  return undefined
}
