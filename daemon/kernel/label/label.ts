// Confidentiality labels (after STANAG 4774): visibility of labelled objects, and the join of labels.
import * as z from 'zod'
import { canonicalJson } from '../encoding/canonical-json.ts'

/** A term of a labelling policy, or a tenant or nationality of an audience. */
export const labelTerm = z.string().min(1).max(64)

/** A label. Its members are declared in canonical order, in which parsed objects are printed fastest. */
export const label = z
  .strictObject({
    categories: z.array(labelTerm).max(32).default([]).meta({ description: 'The viewer must hold all of them' }),
    created: z.iso.datetime({ offset: true }).optional(),
    level: labelTerm.meta({ description: 'A level of the policy' }),
    originator: labelTerm.meta({ description: 'The tenant that created the labelled object' }),
    policy: labelTerm.meta({ description: 'The labelling policy that the level belongs to' }),
    releasable_to: z
      .array(labelTerm)
      .max(64)
      .optional()
      .meta({ description: 'Tenants or nationalities that may see the object; absent: the originator only' }),
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
 * A label of the lowest level, releasable to one tenant: for messages of a site about itself. Throws for a policy
 * without levels.
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

/** Completes a classification to a label; undefined when its policy or level is not the site's. */
export function completeLabel(
  classification: Classification,
  policy: LabelPolicy,
  originator: string,
): Label | undefined {
  if (typeof classification !== 'string') return buildLabel(classification, policy, originator)
  const cached = labelsByBareLevel.get(policy) ?? new Map<string, Label | undefined>()
  labelsByBareLevel.set(policy, cached)
  const key = JSON.stringify([classification, originator])
  if (cached.has(key)) return cached.get(key)
  if (cached.size >= max_bare_levels) cached.clear()
  const built = buildLabel(classification, policy, originator)
  cached.set(key, built)
  return built
}

/**
 * Cached labels of bare levels, which most objects carry: a shared object shares everything that is derived from it.
 */
const labelsByBareLevel = new WeakMap<LabelPolicy, Map<string, Label | undefined>>()
const max_bare_levels = 1_000

function buildLabel(classification: Classification, policy: LabelPolicy, originator: string): Label | undefined {
  const fields = typeof classification === 'string' ? { level: classification } : classification
  if ((fields.policy ?? policy.policy) !== policy.policy || !policy.levels.includes(fields.level)) return undefined
  return normaliseLabel({
    categories: fields.categories ?? [],
    level: fields.level,
    originator,
    policy: policy.policy,
    ...(fields.releasable_to ? { releasable_to: fields.releasable_to } : {}),
  })
}

/** Whether the viewer may know that an object with this label exists. An unknown policy or level is never dominated. */
export function dominates(viewer: Viewer, label: Label, policy: LabelPolicy): boolean {
  if (label.policy !== policy.policy) return false
  const required = policy.levels.indexOf(label.level)
  const cleared = policy.levels.indexOf(viewer.clearance?.level ?? policy.levels[0] ?? '')
  if (required < 0 || cleared < required) return false
  const categories = viewer.clearance?.categories ?? []
  if (!label.categories.every((category) => categories.includes(category))) return false
  return audienceOf(label).some((name) => name === viewer.tenant_id || name === viewer.clearance?.nationality)
}

/**
 * The meet: whoever has it sees nothing that one of the two hides. An absent clearance is the lowest level, without
 * categories and nationality; an unknown level sees nothing.
 */
export function meetClearances(
  first: Clearance | undefined,
  second: Clearance | undefined,
  { levels }: LabelPolicy,
): Clearance | undefined {
  const [lowest] = levels
  if ((!first && !second) || lowest === undefined) return undefined
  const [level = lowest] = [first?.level ?? lowest, second?.level ?? lowest].toSorted(
    (a, b) => levels.indexOf(a) - levels.indexOf(b),
  )
  const categories = (first?.categories ?? []).filter((category) => second?.categories.includes(category))
  const nationality = first?.nationality === second?.nationality ? first?.nationality : undefined
  return { level, categories, ...(nationality === undefined ? {} : { nationality }) }
}

/** Whether an object with this label stays at or below a ceiling: level and categories only. */
export function isWithinCeiling(ceiling: Label, label: Label, policy: LabelPolicy): boolean {
  if (label.policy !== policy.policy || ceiling.policy !== policy.policy) return false
  const level = policy.levels.indexOf(label.level)
  if (level < 0 || level > policy.levels.indexOf(ceiling.level)) return false
  return label.categories.every((category) => ceiling.categories.includes(category))
}

/** Whether the label lets any of these names (a peer's tenant, its nationality) see the object. */
export function isReleasableTo(label: Label, names: readonly string[]): boolean {
  return audienceOf(label).some((name) => names.includes(name))
}

/**
 * The join: highest level, union of categories, intersection of audiences. An absent audience counts as the
 * originator alone. The originator is that of the first label. `undefined` when policies differ or a level is
 * unknown.
 */
export function joinLabels(first: Label, second: Label, policy: LabelPolicy): Label | undefined {
  const last = lastJoins.get(first)
  if (last?.second === second && last.policy === policy) return last.joined
  const joined = computeJoin(first, second, policy)
  // Returns the first label itself where the second adds nothing, so that values cached for it stay valid.
  const result = joined && canonicalJson(joined) === canonicalJson(first) ? first : joined
  lastJoins.set(first, { second, policy, joined: result })
  return result
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

/** Labels are immutable, so a cached key stays valid. */
const keysByLabel = new WeakMap<Label, string>()

/** A string key of a label, equal for labels that admit the same viewers. */
export function labelKey(label: Label): string {
  const cached = keysByLabel.get(label)
  if (cached !== undefined) return cached
  const key = JSON.stringify([label.policy, label.level, [...label.categories].sort(), [...audienceOf(label)].sort()])
  keysByLabel.set(label, key)
  return key
}

/** Parses a key of `labelKey` to a label complete enough for `dominates`. */
export function parseLabelKey(key: string): Label {
  const [policy, level, categories, releasable_to] = z
    .tuple([labelTerm, labelTerm, z.array(labelTerm), z.array(labelTerm)])
    .parse(JSON.parse(key))
  return { policy, level, categories, releasable_to, originator: '' }
}

function audienceOf(label: Label): readonly string[] {
  return label.releasable_to ?? [label.originator]
}

/** Creates a label with members in canonical order, in which it prints fastest. */
export function normaliseLabel(label: Label): Label {
  const sorted = { ...label, categories: [...new Set(label.categories)].sort() }
  return label.releasable_to ? { ...sorted, releasable_to: [...new Set(label.releasable_to)].sort() } : sorted
}
