// Measures both stores side by side: durable writes, reads by id and filtered lists, and what a hundred times the documents cost.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { scopedStore } from '../../daemon/kernel/store/scoped-store.ts'
import type { Collection, Store } from '../../daemon/kernel/store/store.ts'
import { openClusterStore } from '../conformance/opensearch-variant.ts'
import { buildLabel, buildNote, type Note, notes } from '../conformance/store-requirement.ts'
import { openSqliteStore } from '../conformance/store-variants.ts'
import { computeMedian, type Figure } from '../support/bench/figure.ts'
import { opensearch, opensearchRequirement } from '../support/engines/opensearch.ts'

const sizes = [1_000, Number(process.env.BENCH_DOCUMENTS ?? 100_000)]
const chunk = 1_000
const writers = 64
const page_size = 50
const rounds = 5

type ReportFigure = (figure: Figure) => void
/** A cost of each round, in microseconds; `seen`: a list as a caller sees it, who may not know of two fifths of the documents. */
type StoreCosts = {
  readonly writes: number[]
  readonly read: number[]
  readonly list: number[]
  readonly seen: number[]
}
const figureNames = { writes: 'write', read: 'read', list: 'list', seen: "caller's list" } as const
const costNames = Object.keys(figureNames) as (keyof StoreCosts)[]

/** OpenSearch where OPENSEARCH_HOME names one; SQLite without its twin elsewhere. */
export async function bench(report: ReportFigure): Promise<void> {
  reportCosts(
    report,
    'sqlite',
    await withFolders(async (folders) => measureStores(folders.map((each) => openSqlite(each)))),
  )
  if (opensearchRequirement.isPresent) reportCosts(report, 'opensearch', await measureCluster())
  else process.stderr.write(`SKIPPED: the figures of OpenSearch: ${opensearchRequirement.hint}\n`)
}

type BenchStore = { readonly store: Store; close(): Promise<void> }

function openSqlite(folder: string): BenchStore {
  const { store, file } = openSqliteStore(folder)
  return { store, close: () => file.close() }
}

async function measureCluster(): Promise<StoreCosts[]> {
  const server = await opensearch()
  try {
    await server.start()
    return await withFolders(async (folders) =>
      measureStores(folders.map((folder, n) => openClusterStore(server.url, folder, `bench${n}-`, 120_000))),
    )
  } finally {
    await server.end()
  }
}

async function withFolders<T>(use: (folders: readonly string[]) => Promise<T>): Promise<T> {
  const folders = sizes.map(() => mkdtempSync(path.join(tmpdir(), 'bench-store-')))
  try {
    return await use(folders)
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  }
}

/** Small and large by turns, after a round that does not count: what else the machine does falls on both alike. */
async function measureStores(opened: readonly BenchStore[]): Promise<StoreCosts[]> {
  const found = opened.map((): StoreCosts => ({ writes: [], read: [], list: [], seen: [] }))
  try {
    for (const [n, { store }] of opened.entries()) await fillStore(store, sizes[n] ?? 0)
    for (let round = 0; round <= rounds; round++) {
      for (const [n, { store }] of opened.entries()) {
        const costs = await measure(store, sizes[n] ?? 0, round)
        if (round > 0) for (const name of costNames) found[n]?.[name].push(costs[name])
      }
    }
  } finally {
    for (const { close } of opened) await close()
  }
  return found
}

const formatId = (n: number) => `n${String(n).padStart(9, '0')}`
const kinds = ['red', 'green', 'blue'] as const

const labels = { policy: 'site', levels: ['OPEN', 'SECRET'] }
const labelled = [undefined, buildLabel({ level: 'OPEN' }), buildLabel({ level: 'OPEN', categories: ['A'] })]
const unseen = [buildLabel(), buildLabel({ level: 'OPEN', categories: ['B'] })]
const noteLabels = [...labelled, ...unseen]

function buildNumberedNote(n: number): Note {
  const label = noteLabels[n % noteLabels.length]
  const kind = kinds[n % 3] ?? 'red'
  const note = buildNote({ title: `note ${n}`, rank: n, kind, open: n % 2 === 0, count: n % 100 })
  return label ? { ...note, label } : note
}

function openScopedStore(store: Store) {
  const clearance = { level: 'OPEN', categories: ['A'] }
  const caller = { subject: 'ann', tenant_id: 'alpha', roles: [], permissions: new Set<string>(), clearance }
  return scopedStore(store, notes, { caller, labels, if_match: undefined, onRefusal: () => undefined })
}

async function fillStore(store: Store, size: number): Promise<void> {
  for (let at = 0; at < size; at += chunk) {
    const docs = Array.from({ length: chunk }, (_, n) => ({
      id: formatId(at + n),
      version: 1,
      value: buildNumberedNote(at + n),
    }))
    await store.load(notes as Collection<Note>, docs)
  }
  await store.count(notes, {}, { fresh: true })
}

/** Microseconds each. */
async function measure(store: Store, size: number, round: number): Promise<Record<keyof StoreCosts, number>> {
  const at = (n: number) => formatId((n * 7_919) % size)
  const update = (n: number) =>
    store.update(notes, at(n), ({ value }) => ({ next: { ...value, count: value.count + 1 }, answer: 0 }))
  const query = { order: { field: 'rank', direction: 'desc' }, limit: page_size } as const
  const filter = { tenant_id: 'alpha', kind: 'red' }
  const view = openScopedStore(store)
  return {
    writes: await measureCost(1_000, writers, (n) => update(round * 1_000 + n)),
    read: await measureCost(500, 1, (n) => store.get(notes, at(round * 500 + n))),
    list: await measureCost(50, 1, () => store.list(notes, { ...query, filter })),
    seen: await measureCost(50, 1, () => view.list({ ...query, filter: { kind: 'red' } })),
  }
}

/** Microseconds for each of so many, with so many callers at once. */
async function measureCost(times: number, callers: number, act: (n: number) => Promise<unknown>): Promise<number> {
  let next = 0
  const began = performance.now()
  const call = async () => {
    while (next < times) await act(next++)
  }
  await Promise.all(Array.from({ length: callers }, call))
  return ((performance.now() - began) * 1e3) / times
}

function reportCosts(report: ReportFigure, store: string, found: readonly StoreCosts[]): void {
  for (const [n, costs] of found.entries()) {
    const at = `at ${sizes[n]}`
    report({ figure: `${store} writes ${at}`, value: 1e6 / computeMedian(costs.writes), unit: '1/s' })
    report({ figure: `${store} read ${at}`, value: computeMedian(costs.read), unit: 'us' })
    report({ figure: `${store} list ${at}`, value: computeMedian(costs.list), unit: 'us' })
    report({ figure: `${store} caller's list ${at}`, value: computeMedian(costs.seen), unit: 'us' })
  }
  for (const name of costNames)
    report({ figure: `${store} ${figureNames[name]} growth`, value: computeGrowth(found, name), unit: 'x' })
}

/** The median of what each round says. */
function computeGrowth([small, large]: readonly StoreCosts[], name: keyof StoreCosts): number {
  return computeMedian((large?.[name] ?? []).map((cost, round) => cost / (small?.[name][round] ?? 0)))
}
