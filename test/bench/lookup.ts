// Measures the lookup of one record among a hundred thousand in memory: taking them in, what they take, and the time of a lookup.
import { readLens } from '../../daemon/offline/resolve/lens/lens-file.ts'
import { compareRecord } from '../../daemon/roles/resolution/engine/lookup/compare.ts'
import { createLookupKeys, type FieldValues } from '../../daemon/roles/resolution/engine/lookup/keys.ts'
import { LookupIndex } from '../../daemon/roles/resolution/engine/lookup/lookup-index.ts'
import type { LookupWeights } from '../../daemon/roles/resolution/engine/lookup/weights.ts'
import { computeMedian, type Figure } from '../support/bench/figure.ts'
import { generatePeople } from '../support/resolution/generate-people.ts'

const people_count = 40_000
const lookup_count = 500
const candidate_count = 200

export async function bench(report: (figure: Figure) => void): Promise<void> {
  const lens = readLens('persons')
  const { csv, truth } = generatePeople(people_count, 7)
  const [head = '', ...lines] = csv.trimEnd().split('\n')
  const columns = head.split(',')
  // They are in normal form but for the date and the signs of a code.
  const records = lines.map((line): FieldValues => {
    const cells = line.split(',').map((cell, at) => (columns[at] === 'email' ? cell : cell.replaceAll(/[^\w ]/g, '')))
    return Object.fromEntries(
      columns.slice(1).flatMap((name, at) => (cells[at + 1] ? [[name, cells[at + 1] ?? '']] : [])),
    )
  })
  const weights: LookupWeights = {
    ...{ prior: -9, cut: -2, floor: -4, highest: 4 },
    fields: lens.fields.map(({ name }) => ({ name, outcomes: [0, 5, 3, 1, -1, -2, -3, 2, 1], has_frequencies: true })),
  }
  const before = process.memoryUsage().rss
  const index = new LookupIndex(createLookupKeys(lens))
  const started = performance.now()
  for (const [at, values] of records.entries()) index.put(String(at), values)
  report({ figure: 'records', value: records.length, unit: '' })
  report({ figure: 'taken in', value: performance.now() - started, unit: 'ms' })
  report({ figure: 'memory', value: (process.memoryUsage().rss - before) / 1e6, unit: 'MB' })
  const times: number[] = []
  let found = 0
  let findable = 0
  const copies = new Map<number, number>()
  for (const [, person] of truth) copies.set(person, (copies.get(person) ?? 0) + 1)
  for (let at = 0; at < lookup_count; at++) {
    const values: FieldValues = records[at] ?? {}
    const from = performance.now()
    const near = index.findCandidates(values, candidate_count)
    compareRecord(
      lens,
      weights,
      index,
      values,
      near.map((each) => each.values),
    )
    times.push(performance.now() - from)
    const person = truth[at]?.[1] ?? -1
    if ((copies.get(person) ?? 0) < 2) continue
    findable++
    if (near.some(({ uid }) => uid !== String(at) && truth[Number(uid)]?.[1] === person)) found++
  }
  times.sort((one, other) => one - other)
  report({ figure: 'lookup, median', value: computeMedian(times), unit: 'ms' })
  report({ figure: 'lookup, 99 of 100', value: times[Math.floor(lookup_count * 0.99)] ?? Number.NaN, unit: 'ms' })
  report({ figure: 'another record of the person among the candidates', value: found / findable, unit: '' })
}
