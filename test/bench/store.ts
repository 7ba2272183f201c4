// Measures both stores side by side: durable writes, reads by id and filtered lists, and what a hundred times the documents cost.
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

const sizes = [1_000, Number(process.env.BENCH_DOCUMENTS ?? 100_000)]
const chunk = 1_000
const writers = 64
const pageful = 50
const rounds = 5

type Report = (figure: Figure) => void
/** A cost of each round, in microseconds; `seen`: a list as a caller sees it, who may not know of two fifths of the documents. */
type Measured = { readonly writes: number[]; readonly read: number[]; readonly list: number[]; readonly seen: number[] }
const said = { writes: 'write', read: 'read', list: 'list', seen: "caller's list" } as const
const names = Object.keys(said) as (keyof Measured)[]

/** OpenSearch where OPENSEARCH_HOME names one; SQLite without its twin elsewhere. */
export async function bench(report: Report): Promise<void> {
  tell(report, 'sqlite', await inFolders(async (folders) => measured(folders.map((each) => openSqlite(each)))))
  if (opensearchWanted.isPresent) tell(report, 'opensearch', await onCluster())
  else process.stderr.write(`SKIPPED: the figures of OpenSearch: ${opensearchWanted.hint}\n`)
}

type Opened = { readonly store: Store; close(): Promise<void> }

function openSqlite(folder: string): Opened {
  const { store, file } = openSqliteStore(folder)
  return { store, close: () => file.close() }
}

async function onCluster(): Promise<Measured[]> {
  const server = await opensearch()
  try {
    await server.start()
    return await inFolders(async (folders) =>
      measured(folders.map((folder, n) => openClusterStore(server.url, folder, `bench${n}-`, 120_000))),
    )
  } finally {
    await server.end()
  }
}

async function inFolders<T>(use: (folders: readonly string[]) => Promise<T>): Promise<T> {
  const folders = sizes.map(() => mkdtempSync(path.join(tmpdir(), 'bench-store-')))
  try {
    return await use(folders)
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  }
}

/** Small and large by turns, after a round that does not count: what else the machine does falls on both alike. */
async function measured(opened: readonly Opened[]): Promise<Measured[]> {
  const found = opened.map((): Measured => ({ writes: [], read: [], list: [], seen: [] }))
  try {
    for (const [n, { store }] of opened.entries()) await fill(store, sizes[n] ?? 0)
    for (let round = 0; round <= rounds; round++) {
      for (const [n, { store }] of opened.entries()) {
        const costs = await measure(store, sizes[n] ?? 0, round)
        if (round > 0) for (const name of names) found[n]?.[name].push(costs[name])
      }
    }
  } finally {
    for (const { close } of opened) await close()
  }
  return found
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

async function fill(store: Store, size: number): Promise<void> {
  for (let at = 0; at < size; at += chunk) {
    const docs = Array.from({ length: chunk }, (_, n) => ({ id: idOf(at + n), version: 1, value: noteOf(at + n) }))
    await store.load(notes as Collection<Note>, docs)
  }
  await store.count(notes, {}, { fresh: true })
}

/** Microseconds each. */
async function measure(store: Store, size: number, round: number): Promise<Record<keyof Measured, number>> {
  const at = (n: number) => idOf((n * 7_919) % size)
  const update = (n: number) =>
    store.update(notes, at(n), ({ value }) => ({ next: { ...value, count: value.count + 1 }, answer: 0 }))
  const query = { order: { field: 'rank', direction: 'desc' }, limit: pageful } as const
  const filter = { tenant_id: 'alpha', kind: 'red' }
  const view = viewOf(store)
  return {
    writes: await costOf(1_000, writers, (n) => update(round * 1_000 + n)),
    read: await costOf(500, 1, (n) => store.get(notes, at(round * 500 + n))),
    list: await costOf(50, 1, () => store.list(notes, { ...query, filter })),
    seen: await costOf(50, 1, () => view.list({ ...query, filter: { kind: 'red' } })),
  }
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

function tell(report: Report, store: string, found: readonly Measured[]): void {
  for (const [n, costs] of found.entries()) {
    const at = `at ${sizes[n]}`
    report({ figure: `${store} writes ${at}`, value: 1e6 / median(costs.writes), unit: '1/s' })
    report({ figure: `${store} read ${at}`, value: median(costs.read), unit: 'us' })
    report({ figure: `${store} list ${at}`, value: median(costs.list), unit: 'us' })
    report({ figure: `${store} caller's list ${at}`, value: median(costs.seen), unit: 'us' })
  }
  for (const name of names) report({ figure: `${store} ${said[name]} growth`, value: growth(found, name), unit: 'x' })
}

/** The median of what each round says. */
function growth([small, large]: readonly Measured[], name: keyof Measured): number {
  return median((large?.[name] ?? []).map((cost, round) => cost / (small?.[name][round] ?? 0)))
}
