// What of a label a viewer is held to, so that the cluster can be asked for what the viewer may know of, whatever labels there are.
import * as z from 'zod'
import { parseLabelKey } from '../../../daemon/kernel/label/label.ts'
import { labelKeyOf, type ReadScope, type StoredFields } from '../../../daemon/kernel/store/store.ts'

/**
 * Lies beside each document. Who sees it has all of the `needs`, of which there are `count`, and is of the `audience`.
 * A document without these marks is nobody's.
 */
export const marks = z.strictObject({
  needs: z.array(z.string()).min(1),
  count: z.int().min(1),
  audience: z.array(z.string()),
})
export type Marks = z.infer<typeof marks>

const keyword = { type: 'keyword' }
export const marksMapping = {
  dynamic: 'strict',
  properties: { needs: keyword, count: { type: 'long' }, audience: keyword },
}

/** What every viewer has and is: the need and the audience of a document without a label. No name is empty. */
const anybody = ''

export function marksOf(value: StoredFields): Marks {
  const key = labelKeyOf(value)
  if (key === '') return { needs: [anybody], count: 1, audience: [anybody] }
  const { policy, level, categories, releasable_to = [] } = parseLabelKey(key)
  // A repeated category is one term of the cluster's.
  const needs = [gradeOf(policy, level), ...new Set(categories.map(nameOf))]
  return { needs, count: needs.length, audience: [...new Set(releasable_to.map(nameOf))] }
}

/** Queries that must all hold, which decide as `dominates` does for one label; the tenant is asked for apart. */
export function seenBy({ viewer: { tenant_id, clearance }, policy: { policy, levels } }: ReadScope) {
  const reach = levels.indexOf(clearance?.level ?? levels[0] ?? '')
  const grades = levels.slice(0, reach + 1).map((level) => gradeOf(policy, level))
  const terms = [anybody, ...grades, ...(clearance?.categories ?? []).map(nameOf)]
  const nationality = clearance?.nationality === undefined ? [] : [nameOf(clearance.nationality)]
  return [
    { terms: { 'marks.audience': [anybody, nameOf(tenant_id), ...nationality] } },
    { terms_set: { 'marks.needs': { terms, minimum_should_match_field: 'marks.count' } } },
  ] as const
}

function gradeOf(policy: string, level: string): string {
  return JSON.stringify([policy, level])
}

function nameOf(name: string): string {
  return JSON.stringify(name)
}
