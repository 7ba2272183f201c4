// Merges similar artifacts of one type into one, without a model: the best of them, with the evidence of all.

import type { Doc } from '../../../../kernel/store/store.ts'
import type { Artifact } from '../artifact/model.ts'

const max_list = 64
/** Lists whose members stand for themselves, in any order. */
const set_fields: ReadonlySet<string> = new Set(['words', 'operations', 'added', 'removed', 'changed'])
const rate_fields = ['success_rate', 'failure_rate', 'baseline_rate'] as const
const dropped_fields: ReadonlySet<string> = new Set(['embedding_vector', 'embedding_model', 'score_decomposition'])

type ContentFields = Readonly<Record<string, unknown>>

/** By the sort key of selection: the first of them gives its words to the merged one. */
export function rankArtifacts(group: readonly Doc<Artifact>[]): Doc<Artifact>[] {
  const keyOf = ({ value: { content, as_of } }: Doc<Artifact>) => [
    content.evaluator_score ?? 1,
    content.confidence ?? 0,
    content.weight ?? 1,
    as_of,
  ]
  return group.toSorted((x, y) => {
    const [ofX, ofY] = [keyOf(x), keyOf(y)]
    const at = ofX.findIndex((value, n) => value !== ofY[n])
    return at === -1 ? (x.id < y.id ? -1 : 1) : (ofY[at] ?? 0) - (ofX[at] ?? 0)
  })
}

/** `ranked`: at least one. Support is added up; rates are weighted by it; the least sure of them says how sure the merged one is. */
export function mergeContents(ranked: readonly Doc<Artifact>[]): ContentFields {
  const contents: ContentFields[] = ranked.map(({ value }) => value.content)
  const base = Object.entries(contents[0] ?? {}).filter(([key]) => !dropped_fields.has(key))
  const merged: Record<string, unknown> = Object.fromEntries(base)
  for (const field of set_fields) if (Array.isArray(merged[field])) merged[field] = joinLists(contents, field)
  if (typeof merged.support === 'number') merged.support = sum(contents.map((each) => numberOf(each.support)))
  for (const field of rate_fields) if (typeof merged[field] === 'number') merged[field] = weighRates(contents, field)
  merged.confidence = Math.min(...contents.map(({ confidence }) => numberOf(confidence, 0.5)))
  merged.weight = Math.max(...contents.map(({ weight }) => numberOf(weight, 1)))
  return merged
}

export function mergeApplicability(ranked: readonly Doc<Artifact>[]): Artifact['applicability'] {
  const classes = new Set(ranked.map(({ value }) => value.applicability.intent_class))
  const [intent_class] = classes
  const tags = [...new Set(ranked.flatMap(({ value }) => value.applicability.tags))].slice(0, max_list)
  return { tags, ...(classes.size === 1 && intent_class !== undefined ? { intent_class } : {}) }
}

function joinLists(contents: readonly ContentFields[], field: string): unknown[] {
  const members = contents.flatMap((each) => (Array.isArray(each[field]) ? (each[field] as unknown[]) : []))
  return [...new Set(members)].slice(0, max_list)
}

function weighRates(contents: readonly ContentFields[], field: string): number {
  const known = contents.filter((each) => typeof each[field] === 'number')
  const support = sum(known.map((each) => numberOf(each.support)))
  if (support === 0) return numberOf(contents[0]?.[field])
  return Math.min(1, sum(known.map((each) => numberOf(each[field]) * numberOf(each.support))) / support)
}

const numberOf = (value: unknown, otherwise = 0): number => (typeof value === 'number' ? value : otherwise)
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
