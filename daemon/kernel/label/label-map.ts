// Translates labels of a peer: maps each term of its policy to a term of this site's, as people agreed at enrolment.
import * as z from 'zod'
import { type Refusal, refuse } from '../error/errors.ts'
import { type Label, type LabelPolicy, labelTerm, normaliseLabel } from './label.ts'

const terms = z.record(labelTerm, labelTerm)

export const labelMap = z
  .record(
    labelTerm,
    z.strictObject({
      levels: terms.meta({ description: 'Their level to ours' }),
      categories: terms.default({}).meta({ description: 'Their category to ours' }),
      releasable_to: terms
        .optional()
        .meta({ description: 'Their names of tenants and nationalities to ours; absent: they are the same' }),
    }),
  )
  .meta({ id: 'LabelMap', description: 'By the name of a peer’s policy, what its terms are called here' })

export type LabelMap = z.infer<typeof labelMap>

/**
 * A peer's label in the terms of the site's policy. Without an entry for the label's policy only the site's own policy
 * is understood. Refuses `label_denied` for a policy, level or category that is not mapped: dropped, it would show the
 * thing to more people. A name of the audience that is not mapped is dropped, since that shows it to fewer; for the
 * same reason an audience that loses its last name stays an empty one, as an absent one would be the originator's.
 * The originator is a tenant, no term of a policy, and stays. No refusal quotes the label.
 */
export function translateLabel(theirs: Label, map: LabelMap | undefined, policy: LabelPolicy): Label | Refusal {
  const entry = ownEntry(map, theirs.policy)
  if (!entry) return theirs.policy === policy.policy ? theirs : refuse('label_denied', unmappedPolicy)
  const level = ownEntry(entry.levels, theirs.level)
  if (level === undefined) return refuse('label_denied', 'the label’s level is not in the peer’s label map')
  if (!policy.levels.includes(level))
    return refuse('label_denied', 'the peer’s label map leads to a level that the site’s policy does not have')
  const categories = theirs.categories.map((category) => ownEntry(entry.categories, category))
  if (!categories.every((category) => category !== undefined))
    return refuse('label_denied', 'a category of the label is not in the peer’s label map')
  const { releasable_to } = theirs
  const audience = entry.releasable_to
    ? releasable_to?.flatMap((name) => ownEntry(entry.releasable_to, name) ?? [])
    : releasable_to
  const { releasable_to: _theirs, ...rest } = theirs
  return normaliseLabel({
    ...rest,
    categories,
    level,
    policy: policy.policy,
    ...(audience ? { releasable_to: audience } : {}),
  })
}

const unmappedPolicy = 'the label belongs to another policy, and the peer’s label map does not hold that policy'

/** A peer chooses its terms: none of them may find what every object has. */
function ownEntry<T>(of: Readonly<Record<string, T>> | undefined, term: string): T | undefined {
  return of && Object.hasOwn(of, term) ? of[term] : undefined
}
