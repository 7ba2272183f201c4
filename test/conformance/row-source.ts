// What each source of rows keeps, whatever its technology: as data that run against each of them.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'vitest'
import type { OpenConnection, TaskOutcome, TaskWork } from '../../daemon/roles/ingest/parts.ts'
import { openRowSource } from '../../daemon/runtime/ingest/connection/open-source.ts'
import { probeConnection } from '../../daemon/runtime/ingest/connection/probe-connection.ts'
import { performTry } from '../../daemon/runtime/ingest/perform-try.ts'
import type { SourceSettings } from '../../daemon/runtime/ingest/thread-job.ts'
import { max_row_characters, type RowRequest, type RowSource } from '../../daemon/shared/row-source/row-source.ts'
import { readLanded } from '../roles/ingest/ingest-site.ts'
import type { GrowingTable } from './growing-source.ts'
import { expectedPeople, landedTypes, normalizePerson, type PersonRow, personColumns } from './row-source-data.ts'

/** A source with the rows of `row-source-data.ts`. */
export type RowSourceVariant = {
  readonly connection: OpenConnection
  readonly settings: SourceSettings
  /** Where the rows are; undefined for files, which land as they are, with all their columns. */
  readonly table: string | undefined
  /** Columns that the source adds to those of the rows. */
  readonly adds?: readonly string[]
  /** A table of 64 rows, each of a text of 900,000 characters. */
  readonly wide?: string
  /** A table with a value above the limit, and the refusal. */
  readonly huge?: { readonly table: string; readonly refusal: string }
  readonly absentTable: OpenConnection | { readonly table: string }
  readonly absentTableRefusal: string
  /** Absent for sources without a schema. */
  readonly absentColumnRefusal?: string
  /** Connections that fail, each with its refusal: wrong secrets, places where nothing is, other kinds of source. */
  readonly failing: Readonly<Record<string, readonly [connection: OpenConnection, refusal: string]>>
  /** Addresses, paths and secrets, which no message has. */
  readonly hidden: readonly string[]
  /** Changes the source as the statements of the person who keeps it do; those that cannot be a cursor name a column, with the reason. */
  readonly growing?: GrowingTable
  /** Readings that are open at the server. */
  countOpen?(): Promise<number>
}

const max_memory_mb = 256
/** Text of rows that a source may hold for one block: what it reads at once, and one row more. */
const max_block_characters = 2 * max_row_characters

type Landed = { readonly outcome: TaskOutcome; readonly folder: string }

/** Lands by a task in a thread of its own, as a run does. */
async function land(
  { connection, settings, table }: RowSourceVariant,
  params: Readonly<Record<string, unknown>> = {},
): Promise<Landed & Disposable> {
  const root = mkdtempSync(path.join(tmpdir(), 'rows-'))
  const chosen = table === undefined ? {} : { table }
  const task = { name: 'read', operator: 'ingest_database', params: { connection_id: 'conn_1', ...chosen, ...params } }
  const limits = { after: [], retries: 0, retry_delay_s: 1, time_limit_s: 60 }
  const { tenant_id } = connection
  const work = {
    tenant_id,
    pipeline: 'p',
    run: 'run',
    inputs: [],
    connection,
    task: { ...task, ...limits },
  } as TaskWork
  const outcome = await performTry(work, {
    ...{ sources: settings, max_memory_mb, signal: new AbortController().signal, report: () => undefined },
    ...{
      datasets: path.join(root, 'datasets'),
      drafts: path.join(root, 'drafts'),
      outputs: path.join(root, 'outputs'),
    },
  })
  const folder = path.join(root, 'datasets', tenant_id, 'run', 'read')
  return { outcome, folder, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) }
}

async function readPeople({ folder }: Landed, columns: readonly string[]) {
  const rows = await readLanded(folder)
  const people = rows.map((row) => normalizePerson((name: keyof PersonRow) => row[columns.indexOf(name)]))
  return people.toSorted((a, b) => a.id - b.id)
}

function readManifest({ outcome, folder }: Landed) {
  expect(outcome).not.toHaveProperty('failure')
  return JSON.parse(readFileSync(path.join(folder, 'dataset.json'), 'utf8')) as {
    readonly rows: number
    readonly rejects: { readonly rows: number }
    readonly columns: readonly { readonly name: string; readonly type: string }[]
  }
}

export function expectRefusal(variant: RowSourceVariant, text: string | undefined, refusal: string): void {
  expect(text).toContain(refusal)
  for (const hidden of variant.hidden) expect(text).not.toContain(hidden)
}

export async function withSource<T>(variant: RowSourceVariant, use: (source: RowSource) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), 'rows-'))
  try {
    const source = await openRowSource(variant.connection, variant.settings, path.join(folder, 'copy'))
    try {
      return await use(source)
    } finally {
      await source.close()
      // The copy of a file goes with its source.
      expect(readdirSync(folder)).toEqual([])
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const neverAborted = new AbortController().signal

async function listBlocks(source: RowSource, request: RowRequest): Promise<(readonly string[])[]> {
  const blocks: (readonly string[])[] = []
  for await (const block of source.rows(request, neverAborted)) blocks.push(block)
  return blocks
}

/** Title to the requirement: what lands of every source. */
export const landingRequirements: Readonly<Record<string, (variant: RowSourceVariant) => Promise<void>>> = {
  async 'every row lands once, with the same types and values as of any other source'(variant) {
    using landed = await land(variant)
    const { rows, rejects, columns } = readManifest(landed)
    expect([rows, rejects.rows]).toEqual([expectedPeople.length, 0])
    const types = Object.fromEntries(columns.map(({ name, type }) => [name, type]))
    const added = Object.fromEntries((variant.adds ?? []).map((name) => [name, expect.any(String)]))
    expect(types).toEqual({ ...landedTypes, ...added })
    const names = columns.map(({ name }) => name)
    expect(await readPeople(landed, names)).toEqual(expectedPeople)
  },
  async 'a test of the connection says what is there, without its place'(variant) {
    const tested = await probeConnection({ ...variant.settings, probe: true, connection: variant.connection })
    expect(tested).toMatchObject({ ok: true })
    expectRefusal(variant, tested.detail, '')
  },
  async 'what is not there ends the task with the reason, and leaves nothing'(variant) {
    const absent = variant.absentTable
    using landed = await ('table' in absent ? land(variant, absent) : land({ ...variant, connection: absent }))
    expect(landed.outcome).toHaveProperty('failure')
    expectRefusal(variant, JSON.stringify(landed.outcome), variant.absentTableRefusal)
    expect(readdirSync(path.dirname(landed.folder))).toEqual([])
  },
  async 'a source that cannot be read fails its test and its task with the reason, and without the secret'(variant) {
    for (const [connection, refusal] of Object.values(variant.failing)) {
      const tested = await probeConnection({ ...variant.settings, probe: true, connection })
      expect(tested.ok).toBe(false)
      expectRefusal(variant, tested.detail, refusal)
      using landed = await land({ ...variant, connection })
      expect(landed.outcome).toHaveProperty('failure')
      expectRefusal(variant, JSON.stringify(landed.outcome), refusal)
    }
  },
}

/** Title to the requirement: what each source that is read row by row keeps. */
export const rowRequirements: Readonly<
  Record<string, (variant: RowSourceVariant & { readonly table: string }) => Promise<void>>
> = {
  async 'a row is one JSON object on one line, in blocks that follow each other'(variant) {
    const blocks = await withSource(variant, (source) => listBlocks(source, { table: variant.table }))
    expect(blocks.length).toBeGreaterThan(1)
    const lines = blocks.flat()
    expect(lines.length).toBe(expectedPeople.length)
    for (const line of lines) {
      expect(line).not.toMatch(/[\n\r]/)
      expect(Object.keys(JSON.parse(line)).toSorted()).toEqual([...personColumns, ...(variant.adds ?? [])].toSorted())
    }
  },
  async 'only the columns of the request are read'(variant) {
    const request = { table: variant.table, columns: ['name', 'id'] }
    const blocks = await withSource(variant, (source) => listBlocks(source, request))
    const wanted = [...(variant.adds ?? []), 'name', 'id']
    for (const line of blocks.flat()) expect(Object.keys(JSON.parse(line)).toSorted()).toEqual(wanted.toSorted())
    expect(blocks.flat().length).toBe(expectedPeople.length)
  },
  async 'a column that is not there is refused'(variant) {
    if (variant.absentColumnRefusal === undefined) return
    using landed = await land(variant, { columns: ['id', 'no "such'] })
    expect(landed.outcome).toHaveProperty('failure')
    expectRefusal(variant, JSON.stringify(landed.outcome), variant.absentColumnRefusal)
  },
  async 'an aborted reading ends with the reason of its signal, and is not open at the source any more'(variant) {
    const reason = new Error('aborted by the test')
    await withSource(variant, async (source) => {
      const aborting = new AbortController()
      const blocks = source.rows({ table: variant.table }, aborting.signal)[Symbol.asyncIterator]()
      expect((await blocks.next()).done).toBe(false)
      aborting.abort(reason)
      await expect(blocks.next()).rejects.toBe(reason)
      await expect(source.rows({ table: variant.table }, aborting.signal)[Symbol.asyncIterator]().next()).rejects.toBe(
        reason,
      )
    })
    if (variant.countOpen) await expect.poll(() => variant.countOpen?.()).toBe(0)
  },
  async 'a reading that is left ends at the source'(variant) {
    await withSource(variant, async (source) => {
      for await (const _ of source.rows({ table: variant.table }, neverAborted)) break
    })
    if (variant.countOpen) await expect.poll(() => variant.countOpen?.()).toBe(0)
  },
  async 'a block of large rows is bounded, whatever their number'(variant) {
    const { wide } = variant
    if (wide === undefined) return
    await withSource(variant, async (source) => {
      let rows = 0
      for await (const block of source.rows({ table: wide }, neverAborted)) {
        expect(block.reduce((sum, line) => sum + line.length, 0)).toBeLessThanOrEqual(max_block_characters)
        rows += block.length
      }
      expect(rows).toBe(64)
    })
  },
  async 'a value above the limit ends the task with the limit'(variant) {
    if (variant.huge === undefined) return
    using landed = await land(variant, { table: variant.huge.table })
    expect(landed.outcome).toHaveProperty('failure')
    expectRefusal(variant, JSON.stringify(landed.outcome), variant.huge.refusal)
  },
}

/** The rows of a table as lines of JSON, and the columns that the source states. */
export async function readTable(variant: RowSourceVariant, request: RowRequest) {
  return await withSource(variant, async (source) => {
    const lines: string[] = []
    for await (const block of source.rows(request, new AbortController().signal)) lines.push(...block)
    return { lines, stated: source.statedColumns?.() }
  })
}
