// Measures both stores side by side: durable writes, reads by id and filtered lists, and what a hundred times the documents cost.
// A list as a caller sees it goes by tenant and clearance too, which leave out two fifths of the documents.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { scopedStore } from '../../daemon/kernel/scoped-store.ts'
import type { Collection, Store } from '../../daemon/kernel/store.ts'
import { openClusterStore } from '../conformance/opensearch-arm.ts'
import { openSqliteStore } from '../conformance/store-arms.ts'
import { aLabel, aNote, type Note, notes } from '../conformance/store-requirement.ts'
import { opensearch, opensearchWanted } from '../support/engines/opensearch.ts'
import { type Figure, median } from '../support/figure.ts'

const few = 1_000
const many = Number(process.env.BENCH_DOCUMENTS ?? 100_000)
const writers = 64
const pageful = 50
const rounds = 5

type Report = (figure: Figure) => void
type Measured = { readonly writes: number; readonly read: number; readonly list: number; readonly seen: number }

/** OpenSearch where OPENSEARCH_HOME names one; SQLite without its twin elsewhere. */
export async function bench(report: Report): Promise<void> {
  const sqlite = await inFolder(async (folder) => {
    const { store, file } = openSqliteStore(folder)
    return await measured(store).finally(() => file.close())
  })
  const cluster = opensearchWanted.isPresent ? await onCluster() : undefined
  if (!cluster) process.stderr.write(`SKIPPED: the figures of OpenSearch: ${opensearchWanted.hint}\n`)
  for (const [size, at] of [`${few}`, `${many}`].entries()) tell(report, 'sqlite', at, sqlite[size])
  for (const [size, at] of [`${few}`, `${many}`].entries()) tell(report, 'opensearch', at, cluster?.[size])
  growth(report, 'sqlite', sqlite)
  if (cluster) growth(report, 'opensearch', cluster)
}

async function onCluster(): Promise<Measured[]> {
  const server = await opensearch()
  try {
    await server.start()
    return await inFolder(async (folder) => {
      const { store, close } = openClusterStore(server.url, folder, 'bench-', 120_000)
      return await measured(store).finally(close)
    })
  } finally {
    await server.end()
  }
}

async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-store-'))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measured(store: Store): Promise<Measured[]> {
  await fill(store, 0, few)
  const small = await measure(store, few)
  await fill(store, few, many)
  return [small, await measure(store, many)]
}

const idOf = (n: number) => `n${String(n).padStart(9, '0')}`
const kinds = ['red', 'green', 'blue'] as const

const labels = { policy: 'site', levels: ['OPEN', 'SECRET'] }
const labelled = [undefined, aLabel({ level: 'OPEN' }), aLabel({ level: 'OPEN', categories: ['A'] })]
const unseen = [aLabel(), aLabel({ level: 'OPEN', categories: ['B'] })]
const marks = [...labelled, ...unseen]

function noteOf(n: number): Note {
  const label = marks[n % marks.length]
  const kind = kinds[n % 3] ?? 'red'
  const note = aNote({ title: `note ${n}`, rank: n, kind, open: n % 2 === 0, count: n % 100 })
  return label ? { ...note, label } : note
}

function viewOf(store: Store) {
  const clearance = { level: 'OPEN', categories: ['A'] }
  const caller = { subject: 'ann', tenant_id: 'alpha', roles: [], permissions: new Set<string>(), clearance }
  return scopedStore(store, notes, { caller, labels, if_match: undefined, refusedOn: () => undefined })
}

async function fill(store: Store, from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += few) {
    const docs = Array.from({ length: few }, (_, n) => ({ id: idOf(at + n), version: 1, value: noteOf(at + n) }))
    await store.load(notes as Collection<Note>, docs)
  }
  await store.count(notes, {}, { fresh: true })
}

async function measure(store: Store, size: number): Promise<Measured> {
  const at = (n: number) => idOf((n * 7_919) % size)
  const writes: number[] = []
  const reads: number[] = []
  const lists: number[] = []
  const seen: number[] = []
  const view = viewOf(store)
  for (let round = 0; round < rounds; round++) {
    const update = (n: number) =>
      store.update(notes, at(n), ({ value }) => ({ next: { ...value, count: value.count + 1 }, answer: 0 }))
    writes.push(1e6 / (await costOf(1_000, writers, (n) => update(round * 1_000 + n))))
    reads.push(await costOf(500, 1, (n) => store.get(notes, at(round * 500 + n))))
    const query = { order: { field: 'rank', direction: 'desc' }, limit: pageful } as const
    const filter = { tenant_id: 'alpha', kind: 'red' }
    lists.push(await costOf(50, 1, () => store.list(notes, { ...query, filter })))
    seen.push(await costOf(50, 1, () => view.list({ ...query, filter: { kind: 'red' } })))
  }
  return { writes: median(writes), read: median(reads), list: median(lists), seen: median(seen) }
}

/** Microseconds for each of so many, with so many callers at once. */
async function costOf(times: number, callers: number, act: (n: number) => Promise<unknown>): Promise<number> {
  let next = 0
  const began = performance.now()
  const call = async () => {
    while (next < times) await act(next++)
  }
  await Promise.all(Array.from({ length: callers }, call))
  return ((performance.now() - began) * 1e3) / times
}

function tell(report: Report, name: string, size: string, found: Measured | undefined): void {
  if (!found) return
  report({ figure: `${name} writes at ${size}`, value: found.writes, unit: '1/s' })
  report({ figure: `${name} read at ${size}`, value: found.read, unit: 'us' })
  report({ figure: `${name} list at ${size}`, value: found.list, unit: 'us' })
  report({ figure: `${name} caller's list at ${size}`, value: found.seen, unit: 'us' })
}

function growth(report: Report, name: string, [small, large]: readonly Measured[]): void {
  if (!small || !large) return
  report({ figure: `${name} write growth`, value: small.writes / large.writes, unit: 'x' })
  report({ figure: `${name} read growth`, value: large.read / small.read, unit: 'x' })
  report({ figure: `${name} list growth`, value: large.list / small.list, unit: 'x' })
  report({ figure: `${name} caller's list growth`, value: large.seen / small.seen, unit: 'x' })
}
