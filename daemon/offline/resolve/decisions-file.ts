// What people decided about pairs, from a file, laid over the clusters that a resolution of files found.
import type { LensRecords, RecordSource } from '../../roles/resolution/engine/records/records.ts'
import type { DetailedResolution } from '../../roles/resolution/engine/resolve.ts'
import { clusterWithDecisions, type PairDecision } from '../../roles/resolution/registry/cluster-with-decisions.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { readDataFile } from './data-file.ts'

const decisionColumns = ['id_l', 'id_r', 'decision', 'source_l', 'source_r'] as const
type DecisionColumn = (typeof decisionColumns)[number]
type DecisionLine = Readonly<Record<DecisionColumn, string>>

const decisionMeanings: Readonly<Record<string, PairDecision['is'] | undefined>> = {
  confirm: 'same',
  reject: 'different',
}

/** Rows of the records by the keys that decisions know them by. */
export type RecordDecisions = {
  readonly decisions: readonly PairDecision[]
  readonly rowOf: ReadonlyMap<string, number>
}

/** As in the registry of the service: by source, then by record. */
export function buildRecordKey({ names, sources, idOf }: LensRecords, row: number): string {
  return `${names[sources[row] ?? 0] ?? ''}\u0000${idOf(row)}`
}

/**
 * The last line about a pair counts; `defer` decides nothing. Throws `OfflineCommandError` (1) that names the line: for another
 * decision than those three, for a record that the data does not have, and for a record and itself.
 */
export async function readDecisions(file: string, records: LensRecords): Promise<RecordDecisions> {
  const source = await readDataFile(file, (name) => decisionColumns.some((each) => each === name))
  const lines = parseDecisionLines(file, source, records.names)
  const wanted = new Set(lines.flatMap((line) => buildPairKeys(line)))
  const rowOf = new Map<string, number>()
  for (let row = 0; row < records.rows; row++) {
    const key = buildRecordKey(records, row)
    if (wanted.has(key)) rowOf.set(key, row)
  }
  const last = new Map<string, PairDecision | undefined>()
  for (const [at, line] of lines.entries()) {
    const where = `${file}, decision ${at + 1}`
    const [left, right] = buildPairKeys(line)
    for (const key of [left, right]) {
      if (rowOf.has(key)) continue
      const [name, id] = key.split('\u0000')
      throw new OfflineCommandError(1, `${where}: ${name} has no record ${JSON.stringify(id)}`)
    }
    if (left === right) throw new OfflineCommandError(1, `${where}: the pair names the same record twice`)
    const is = decisionMeanings[line.decision]
    if (!is && line.decision !== 'defer') {
      throw new OfflineCommandError(
        1,
        `${where}: decision is ${JSON.stringify(line.decision)}; it must be confirm, reject or defer`,
      )
    }
    last.set([left, right].sort().join('\u0000'), is && { left, right, is })
  }
  return { decisions: [...last.values()].flatMap((each) => each ?? []), rowOf }
}

function parseDecisionLines(file: string, source: RecordSource, names: readonly string[]): DecisionLine[] {
  const needed = names.length > 1 ? decisionColumns : decisionColumns.slice(0, 3)
  const missing = needed.filter((name) => !source.names.includes(name))
  if (missing.length > 0) throw new OfflineCommandError(1, `${file} has no column ${missing.join(', ')}`)
  const decoder = new TextDecoder()
  const textOf = (name: DecisionColumn, row: number) => {
    const column = source.columns.find((each) => each.name === name)
    const code = column?.codes[row] ?? -1
    return column && code >= 0 ? decoder.decode(column.values.bytesOf(code)).trim() : ''
  }
  return Array.from({ length: source.rows }, (_, row) => ({
    id_l: textOf('id_l', row),
    id_r: textOf('id_r', row),
    decision: textOf('decision', row),
    source_l: textOf('source_l', row) || (names[0] ?? ''),
    source_r: textOf('source_r', row) || (names[0] ?? ''),
  }))
}

function buildPairKeys({ id_l, id_r, source_l, source_r }: DecisionLine): readonly [string, string] {
  return [`${source_l}\u0000${id_l}`, `${source_r}\u0000${id_r}`]
}

/** Clusters that no decision is about stay as they are. `overruled`: confirmed pairs that rejected ones keep apart. */
export function applyDecisions(records: LensRecords, found: DetailedResolution, { decisions, rowOf }: RecordDecisions) {
  const { clusters, compared, scores, floor } = found
  const reached = new Set([...rowOf.values()].map((row) => clusters[row] ?? row))
  const keys = new Map<number, string>()
  for (const [row, cluster] of clusters.entries()) if (reached.has(cluster)) keys.set(row, buildRecordKey(records, row))
  const bases = new Map([...keys].map(([row, key]) => [key, keys.get(clusters[row] ?? row) ?? key]))
  const links: { left: string; right: string; above: number }[] = []
  for (let pair = 0; pair < compared.length; pair++) {
    const [left, right] = [keys.get(compared.lefts[pair] ?? 0), keys.get(compared.rights[pair] ?? 0)]
    if (left === undefined || right === undefined) continue
    links.push({ left, right, above: Math.max(0, (scores[pair] ?? 0) - floor) })
  }
  const { clusters: groups, overruled } = clusterWithDecisions({ bases, links, decisions })
  const rows = new Map([...keys].map(([row, key]) => [key, row]))
  const next = clusters.slice()
  for (const members of groups) {
    const group = members.map((key) => rows.get(key) ?? 0)
    const lowest = group.reduce((least, row) => Math.min(least, row))
    for (const row of group) next[row] = lowest
  }
  return { clusters: next, overruled }
}
