// Confidentiality labels (after STANAG 4774): who may see what, and what a thing made of labelled parts carries.
import * as z from 'zod'
import { canonicalJson } from '../encoding/canonical-json.ts'

/** A term of a labelling policy, or a name of an audience. */
export const labelTerm = z.string().min(1).max(64)

/** Its members are in canonical order, in which what was parsed is printed fastest. */
export const label = z
  .strictObject({
    categories: z.array(labelTerm).max(32).default([]).meta({ description: 'All of them must be held' }),
    created: z.iso.datetime({ offset: true }).optional(),
    level: labelTerm.meta({ description: 'A level of the policy' }),
    originator: labelTerm.meta({ description: 'The tenant that made the labelled thing' }),
    policy: labelTerm.meta({ description: 'The labelling policy that the level belongs to' }),
    releasable_to: z
      .array(labelTerm)
      .max(64)
      .optional()
      .meta({ description: 'Tenants or nationalities that may see it; absent: the originator only' }),
  })
  .meta({ id: 'Label', description: 'A confidentiality label' })

export type Label = z.infer<typeof label>

/** Input in place of a whole label: a bare level, or a label without its originator. */
export const classification = z
  .union([
    labelTerm,
    z.strictObject({
      policy: labelTerm.optional(),
      level: labelTerm,
      categories: z.array(labelTerm).max(32).optional(),
      releasable_to: z.array(labelTerm).max(64).optional(),
    }),
  ])
  .meta({ id: 'Classification', description: 'A level of the site’s policy, or a label without its originator' })

export type Classification = z.infer<typeof classification>

/**
 * The lowest level, releasable to one tenant alone: for messages of a site about itself. Throws for a policy without
 * levels.
 */
export function lowestLabel(tenant_id: string, { policy, levels }: LabelPolicy, originator: string): Label {
  const [level] = levels
  if (level === undefined) throw new Error('the label policy has no levels')
  return { policy, level, categories: [], releasable_to: [tenant_id], originator }
}

/** A labelling policy: its levels, lowest first. */
export type LabelPolicy = { readonly policy: string; readonly levels: readonly string[] }

export const clearance = z.strictObject({
  level: labelTerm,
  categories: z.array(labelTerm).max(32).default([]),
  nationality: labelTerm.optional(),
})

export type Clearance = z.infer<typeof clearance>

/** Clearance and tenant of a reader: a label may be releasable to a nationality or a tenant. */
export type Viewer = { readonly clearance: Clearance | undefined; readonly tenant_id: string }

/** Completes a given classification to a label; undefined when its policy or level is not the site's. */
export function completeLabel(given: Classification, policy: LabelPolicy, originator: string): Label | undefined {
  if (typeof given !== 'string') return buildLabel(given, policy, originator)
  const known = labelsByBareLevel.get(policy) ?? new Map<string, Label | undefined>()
  labelsByBareLevel.set(policy, known)
  const key = JSON.stringify([given, originator])
  if (known.has(key)) return known.get(key)
  if (known.size >= max_bare_levels) known.clear()
  const made = buildLabel(given, policy, originator)
  known.set(key, made)
  return made
}

/** The labels behind bare levels, which most things carry: one object for all of them keeps what is derived from it. */
const labelsByBareLevel = new WeakMap<LabelPolicy, Map<string, Label | undefined>>()
const max_bare_levels = 1_000

function buildLabel(given: Classification, policy: LabelPolicy, originator: string): Label | undefined {
  const named = typeof given === 'string' ? { level: given } : given
  if ((named.policy ?? policy.policy) !== policy.policy || !policy.levels.includes(named.level)) return undefined
  return normaliseLabel({
    categories: named.categories ?? [],
    level: named.level,
    originator,
    policy: policy.policy,
    ...(named.releasable_to ? { releasable_to: named.releasable_to } : {}),
  })
}

/** Whether the viewer may know that a thing with this label exists. An unknown policy or level is never dominated. */
export function dominates(viewer: Viewer, held: Label, policy: LabelPolicy): boolean {
  if (held.policy !== policy.policy) return false
  const needed = policy.levels.indexOf(held.level)
  const has = policy.levels.indexOf(viewer.clearance?.level ?? policy.levels[0] ?? '')
  if (needed < 0 || has < needed) return false
  const categories = viewer.clearance?.categories ?? []
  if (!held.categories.every((category) => categories.includes(category))) return false
  return audienceOf(held).some((name) => name === viewer.tenant_id || name === viewer.clearance?.nationality)
}

/** Whether a thing with this label stays at or below a ceiling: level and categories only. */
export function isWithinCeiling(ceiling: Label, held: Label, policy: LabelPolicy): boolean {
  if (held.policy !== policy.policy || ceiling.policy !== policy.policy) return false
  const level = policy.levels.indexOf(held.level)
  if (level < 0 || level > policy.levels.indexOf(ceiling.level)) return false
  return held.categories.every((category) => ceiling.categories.includes(category))
}

/** Whether the label lets any of these names (a peer's tenant, its nationality) see the thing. */
export function isReleasableTo(held: Label, names: readonly string[]): boolean {
  return audienceOf(held).some((name) => names.includes(name))
}

/**
 * The join: highest level, union of categories, intersection of releasability, an absent one counting as the
 * originator alone. The first label keeps its originator; `undefined` when policies differ or a level is unknown.
 */
export function joinLabels(first: Label, second: Label, policy: LabelPolicy): Label | undefined {
  const last = lastJoins.get(first)
  if (last?.second === second && last.policy === policy) return last.joined
  const joined = computeJoin(first, second, policy)
  // The first label itself where the second adds nothing, so that what was derived from it stays.
  const kept = joined && canonicalJson(joined) === canonicalJson(first) ? first : joined
  lastJoins.set(first, { second, policy, joined: kept })
  return kept
}

/** Whether every viewer of the second may see the first. */
export function isCoveredBy(inner: Label, outer: Label, policy: LabelPolicy): boolean {
  const joined = joinLabels(outer, inner, policy)
  return joined !== undefined && labelKey(joined) === labelKey(outer)
}

type CachedJoin = { readonly second: Label; readonly policy: LabelPolicy; readonly joined: Label | undefined }
const lastJoins = new WeakMap<Label, CachedJoin>()

function computeJoin(first: Label, second: Label, policy: LabelPolicy): Label | undefined {
  if (first.policy !== second.policy || first.policy !== policy.policy) return undefined
  const level = policy.levels[Math.max(policy.levels.indexOf(first.level), policy.levels.indexOf(second.level))]
  if (level === undefined || !policy.levels.includes(first.level) || !policy.levels.includes(second.level))
    return undefined
  const shared = audienceOf(first).filter((name) => audienceOf(second).includes(name))
  return normaliseLabel({
    categories: [...first.categories, ...second.categories],
    level,
    originator: first.originator,
    policy: first.policy,
    releasable_to: shared,
  })
}

/** Labels are never changed, so that their keys stay theirs. */
const keysByLabel = new WeakMap<Label, string>()

/** One string for one label, the same for labels that admit the same viewers. */
export function labelKey(held: Label): string {
  const known = keysByLabel.get(held)
  if (known !== undefined) return known
  const key = JSON.stringify([held.policy, held.level, [...held.categories].sort(), [...audienceOf(held)].sort()])
  keysByLabel.set(held, key)
  return key
}

/** The label behind a key of `labelKey`, complete enough for `dominates`. */
export function parseLabelKey(key: string): Label {
  const [policy, level, categories, releasable_to] = z
    .tuple([labelTerm, labelTerm, z.array(labelTerm), z.array(labelTerm)])
    .parse(JSON.parse(key))
  return { policy, level, categories, releasable_to, originator: '' }
}

function audienceOf(held: Label): readonly string[] {
  return held.releasable_to ?? [held.originator]
}

/** Labels are made with their members in canonical order, in which they are printed fastest. */
export function normaliseLabel(held: Label): Label {
  const sorted = { ...held, categories: [...new Set(held.categories)].sort() }
  return held.releasable_to ? { ...sorted, releasable_to: [...new Set(held.releasable_to)].sort() } : sorted
}
