// Translates labels of a peer: maps each term of its policy to a term of this site's, as agreed at enrolment.
import * as z from 'zod'
import { type Refusal, refuse } from '../error/errors.ts'
import { type Label, type LabelPolicy, labelTerm, normaliseLabel } from './label.ts'

const terms = z.record(labelTerm, labelTerm)

export const labelMap = z
  .record(
    labelTerm,
    z.strictObject({
      levels: terms.meta({ description: 'Level of the peer to level of this site' }),
      categories: terms.default({}).meta({ description: 'Category of the peer to category of this site' }),
      releasable_to: terms.optional().meta({
        description: 'Tenants and nationalities of the peer to those of this site; absent when the names are the same',
      }),
    }),
  )
  .meta({ id: 'LabelMap', description: 'Translation of terms, by the name of the peer’s policy' })

export type LabelMap = z.infer<typeof labelMap>

/**
 * A peer's label in the terms of the site's policy. Without an entry for the label's policy only the site's own
 * policy is accepted. A policy, level or category that is not mapped is refused with `label_denied`: dropping it
 * would show the object to more people. A name of the audience that is not mapped is dropped, since that shows the
 * object to fewer people. An audience that loses its last name stays empty, because an absent one means the
 * originator alone. The originator is a tenant, not a term of a policy, and stays. No refusal quotes the label.
 */
export function translateLabel(label: Label, map: LabelMap | undefined, policy: LabelPolicy): Label | Refusal {
  const entry = ownEntry(map, label.policy)
  if (!entry) return label.policy === policy.policy ? label : refuse('label_denied', unmappedPolicy)
  const level = ownEntry(entry.levels, label.level)
  if (level === undefined) return refuse('label_denied', 'the level of the label is not in the peer’s label map')
  if (!policy.levels.includes(level))
    return refuse('label_denied', 'the peer’s label map names a level that the site’s policy does not have')
  const categories = label.categories.map((category) => ownEntry(entry.categories, category))
  if (!categories.every((category) => category !== undefined))
    return refuse('label_denied', 'a category of the label is not in the peer’s label map')
  const { releasable_to } = label
  const audience = entry.releasable_to
    ? releasable_to?.flatMap((name) => ownEntry(entry.releasable_to, name) ?? [])
    : releasable_to
  const { releasable_to: _audience, ...rest } = label
  return normaliseLabel({
    ...rest,
    categories,
    level,
    policy: policy.policy,
    ...(audience ? { releasable_to: audience } : {}),
  })
}

const unmappedPolicy = 'the label belongs to another policy, which is not in the peer’s label map'

/** The own property only: the peer chooses the terms, and must not reach inherited properties. */
function ownEntry<T>(table: Readonly<Record<string, T>> | undefined, term: string): T | undefined {
  return table && Object.hasOwn(table, term) ? table[term] : undefined
}
