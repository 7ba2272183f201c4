// Translates label dominance into a query, so that the cluster returns only documents that the viewer may see.
import * as z from 'zod'
import { parseLabelKey } from '../../../../daemon/kernel/label/label.ts'
import { labelKeyOf, type ReadScope, type StoredFields } from '../../../../daemon/kernel/store/store.ts'

/**
 * Stored beside each document. A viewer sees it who has all of the `needs`, of which there are `count`, and is in the `audience`.
 * No viewer sees a document without these marks.
 */
export const labelMarks = z.strictObject({
  needs: z.array(z.string()).min(1),
  count: z.int().min(1),
  audience: z.array(z.string()),
})
export type LabelMarks = z.infer<typeof labelMarks>

const keywordMapping = { type: 'keyword' }
export const marksMapping = {
  dynamic: 'strict',
  properties: { needs: keywordMapping, count: { type: 'long' }, audience: keywordMapping },
}

/** The need and the audience of a document without a label, which every viewer meets. No name is empty. */
const anybody = ''

export function deriveMarks(value: StoredFields): LabelMarks {
  const key = labelKeyOf(value)
  if (key === '') return { needs: [anybody], count: 1, audience: [anybody] }
  const { policy, level, categories, releasable_to = [] } = parseLabelKey(key)
  // A repeated category is one term of the cluster's.
  const needs = [levelMark(policy, level), ...new Set(categories.map(nameMark))]
  return { needs, count: needs.length, audience: [...new Set(releasable_to.map(nameMark))] }
}

/** Queries that must all hold, and decide as `dominates` does for one label; the tenant is a query of its own. */
export function readScopeQueries({ viewer: { tenant_id, clearance }, policy: { policy, levels } }: ReadScope) {
  const reach = levels.indexOf(clearance?.level ?? levels[0] ?? '')
  const grades = levels.slice(0, reach + 1).map((level) => levelMark(policy, level))
  const terms = [anybody, ...grades, ...(clearance?.categories ?? []).map(nameMark)]
  const nationality = clearance?.nationality === undefined ? [] : [nameMark(clearance.nationality)]
  return [
    { terms: { 'marks.audience': [anybody, nameMark(tenant_id), ...nationality] } },
    { terms_set: { 'marks.needs': { terms, minimum_should_match_field: 'marks.count' } } },
  ] as const
}

function levelMark(policy: string, level: string): string {
  return JSON.stringify([policy, level])
}

function nameMark(name: string): string {
  return JSON.stringify(name)
}
