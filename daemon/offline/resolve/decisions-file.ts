// Reads people's decisions about pairs from a file, and applies them to the clusters of a resolution.

import { unescapeFormula } from '../../kernel/text/formula-cell.ts'
import type { LensRecords, RecordSource } from '../../roles/resolution/engine/records/records.ts'
import type { DetailedResolution } from '../../roles/resolution/engine/resolve.ts'
import { clusterWithDecisions, type PairDecision } from '../../roles/resolution/registry/cluster-with-decisions.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { missingColumns, readDataFile } from './data-file.ts'

const decisionColumns = ['id_l', 'id_r', 'decision', 'source_l', 'source_r'] as const
type DecisionColumn = (typeof decisionColumns)[number]
type DecisionLine = Readonly<Record<DecisionColumn, string>>

const decisionMeanings: Readonly<Record<string, PairDecision['is'] | undefined>> = {
  confirm: 'same',
  reject: 'different',
}

/** Height above and below the cut of a pair that a person has decided, in natural log-odds and in likeness. */
const decided_height = { log_odds: 12, likeness: 0.6 } as const

/** The scores, with those of decided pairs far above or below the cut. */
export function scoreDecisions(
  { compared, clusters, scores, cut, scale }: DetailedResolution,
  { decisions, rowOf }: RecordDecisions,
): Float64Array {
  const keyOf = (one: number, other: number) => Math.min(one, other) * clusters.length + Math.max(one, other)
  const signs = new Map<number, number>()
  for (const { left, right, is } of decisions)
    signs.set(keyOf(rowOf.get(left) ?? 0, rowOf.get(right) ?? 0), is === 'same' ? 1 : -1)
  return scores.map((score, pair) => {
    const sign = signs.get(keyOf(compared.lefts[pair] ?? 0, compared.rights[pair] ?? 0))
    return sign === undefined ? score : cut + sign * decided_height[scale]
  })
}

/** Decisions, with the row of each record that they name. */
export type RecordDecisions = {
  readonly decisions: readonly PairDecision[]
  readonly rowOf: ReadonlyMap<string, number>
}

/** Key of a record as in the registry of the service: source, then id. */
export function buildRecordKey({ names, sources, idOf }: LensRecords, row: number): string {
  return `${names[sources[row] ?? 0] ?? ''}\u0000${idOf(row)}`
}

/**
 * Reads the decisions; the last line about a pair counts, and `defer` removes a decision. Throws `OfflineCommandError` (1)
 * with the line for an unknown decision, an unknown record, and a pair of one record with itself.
 */
export async function readDecisions(file: string, records: LensRecords): Promise<RecordDecisions> {
  const source = await readDataFile(file, (name) => decisionColumns.some((candidate) => candidate === name))
  const lines = parseDecisionLines(file, source, records.names)
  const neededKeys = new Set(lines.flatMap((line) => buildPairKeys(line).flatMap(listReadings)))
  const rowOf = new Map<string, number>()
  for (let row = 0; row < records.rows; row++) {
    const key = buildRecordKey(records, row)
    if (neededKeys.has(key)) rowOf.set(key, row)
  }
  const latest = new Map<string, PairDecision | undefined>()
  for (const [index, line] of lines.entries()) {
    const location = `${file}, decision ${index + 1}`
    const [left, right] = buildPairKeys(line).map(
      (key) => listReadings(key).find((each) => rowOf.has(each)) ?? key,
    ) as [string, string]
    for (const key of [left, right]) {
      if (rowOf.has(key)) continue
      const [name, id] = key.split('\u0000')
      throw new OfflineCommandError(1, `${location}: ${name} has no record ${JSON.stringify(id)}`)
    }
    if (left === right) throw new OfflineCommandError(1, `${location}: the pair names the same record twice`)
    const verdict = decisionMeanings[line.decision]
    if (!verdict && line.decision !== 'defer') {
      throw new OfflineCommandError(
        1,
        `${location}: decision is ${JSON.stringify(line.decision)}; it must be confirm, reject or defer`,
      )
    }
    latest.set([left, right].sort().join('\u0000'), verdict && { left, right, is: verdict })
  }
  return { decisions: [...latest.values()].flatMap((decision) => decision ?? []), rowOf }
}

function parseDecisionLines(file: string, source: RecordSource, names: readonly string[]): DecisionLine[] {
  const requiredColumns = names.length > 1 ? decisionColumns : decisionColumns.slice(0, 3)
  const missing = requiredColumns.filter((name) => !source.names.includes(name))
  if (missing.length > 0) throw missingColumns(file, missing, source.names)
  const decoder = new TextDecoder()
  const textOf = (name: DecisionColumn, row: number) => {
    const column = source.columns.find((candidate) => candidate.name === name)
    const code = column?.codes[row] ?? -1
    return column && code >= 0 ? decoder.decode(column.values.bytesOf(code)) : ''
  }
  return Array.from({ length: source.rows }, (_, row) => ({
    id_l: textOf('id_l', row),
    id_r: textOf('id_r', row),
    decision: textOf('decision', row).trim(),
    source_l: textOf('source_l', row) || (names[0] ?? ''),
    source_r: textOf('source_r', row) || (names[0] ?? ''),
  }))
}

function buildPairKeys({ id_l, id_r, source_l, source_r }: DecisionLine): readonly [string, string] {
  return [`${source_l}\u0000${id_l}`, `${source_r}\u0000${id_r}`]
}

/** A key as it is, of cells that were copied from a result in CSV, and without blanks that a person left around them. */
function listReadings(key: string): string[] {
  const readings = [(cell: string) => cell, unescapeFormula, (cell: string) => unescapeFormula(cell.trim())]
  return readings.map((read) => key.split('\u0000').map(read).join('\u0000'))
}

/** Applies the decisions; other clusters stay unchanged. `overruled`: confirmed pairs that rejected ones keep apart. */
export function applyDecisions(
  records: LensRecords,
  resolution: DetailedResolution,
  { decisions, rowOf }: RecordDecisions,
) {
  const { clusters, compared, scores, floor } = resolution
  const affected = new Set([...rowOf.values()].map((row) => clusters[row] ?? row))
  const keys = new Map<number, string>()
  for (const [row, cluster] of clusters.entries())
    if (affected.has(cluster)) keys.set(row, buildRecordKey(records, row))
  const baseOf = new Map([...keys].map(([row, key]) => [key, keys.get(clusters[row] ?? row) ?? key]))
  const links: { left: string; right: string; above: number }[] = []
  for (let pair = 0; pair < compared.length; pair++) {
    const [left, right] = [keys.get(compared.lefts[pair] ?? 0), keys.get(compared.rights[pair] ?? 0)]
    if (left === undefined || right === undefined) continue
    links.push({ left, right, above: Math.max(0, (scores[pair] ?? 0) - floor) })
  }
  const { clusters: groups, overruled } = clusterWithDecisions({ bases: baseOf, links, decisions })
  const rows = new Map([...keys].map(([row, key]) => [key, row]))
  const updated = clusters.slice()
  for (const members of groups) {
    const group = members.map((key) => rows.get(key) ?? 0)
    const lowest = group.reduce((minimum, row) => Math.min(minimum, row))
    for (const row of group) updated[row] = lowest
  }
  return { clusters: updated, overruled }
}
