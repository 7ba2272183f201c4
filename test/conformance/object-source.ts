// What each store of objects keeps as a source, whatever its technology: as data that run against each of them.
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'vitest'
import type { LandedDataset } from '../../daemon/kernel/data/landed-dataset.ts'
import type { DatasetRef } from '../../daemon/roles/ingest/dataset/model.ts'
import type { OpenConnection } from '../../daemon/roles/ingest/parts.ts'
import { probeConnection } from '../../daemon/runtime/ingest/connection/probe-connection.ts'
import { openObjectSource } from '../../daemon/runtime/ingest/object-store/open-object-source.ts'
import { performTask } from '../../daemon/runtime/ingest/perform-task.ts'
import type { SourceSettings, TaskThreadJob } from '../../daemon/runtime/ingest/thread-job.ts'
import {
  ObjectChangedError,
  type ObjectSource,
  type StoredObject,
} from '../../daemon/shared/object-source/object-source.ts'
import { readLanded } from '../roles/ingest/ingest-site.ts'

/** A store that is empty below the prefix of each connection. */
export type ObjectSourceVariant = {
  /** Each with a prefix of its own, which ends with a slash. */
  connect(prefix: string): OpenConnection
  readonly settings: SourceSettings
  put(key: string, content: string): Promise<unknown>
  remove(key: string): Promise<unknown>
  /** Keys that the store takes, and that file systems or documents read otherwise. */
  readonly strange_keys: readonly string[]
  /** Connections that fail, each with its refusal. */
  readonly failing: Readonly<Record<string, readonly [connection: OpenConnection, refusal: string]>>
  /** Addresses and secrets, which no message has. */
  readonly hidden: readonly string[]
}

const never = new AbortController().signal

/** The runs of one task, one after the other. */
class ObjectRuns implements Disposable {
  readonly #variant: ObjectSourceVariant
  readonly #connection: OpenConnection
  readonly #root = mkdtempSync(path.join(tmpdir(), 'objects-'))
  #base: DatasetRef | undefined
  #count = 0

  constructor(variant: ObjectSourceVariant, connection: OpenConnection) {
    this.#variant = variant
    this.#connection = connection
  }

  /** Lands by a task; returns the rows, or the reason of the failure. */
  async run(params: Readonly<Record<string, unknown>> = {}, settings: Partial<SourceSettings> = {}) {
    const run = `run${++this.#count}`
    const all = { connection_id: 'conn_1', ...params }
    const limits = { after: [], retries: 0, retry_delay_s: 1, time_limit_s: 60 }
    const task = { name: 'read', operator: 'ingest_objects', params: all, ...limits }
    const { tenant_id } = this.#connection
    const cursor =
      params.only_new === true ? { of: 'a'.repeat(64), ...(this.#base && { base: this.#base }) } : undefined
    const at = (name: string) => path.join(this.#root, name)
    const drafts = at(`drafts-${run}`)
    const work = { tenant_id, pipeline: 'p', run, inputs: [], connection: this.#connection, task }
    const folders = { datasets: at('datasets'), drafts, outputs: at('outputs') }
    const sources = { ...this.#variant.settings, ...settings, ...(cursor && { cursor }) }
    // In this process: a thread takes longer to start than all of this.
    const outcome = await performTask({ ...work, ...sources, ...folders } as TaskThreadJob, () => undefined)
    rmSync(drafts, { recursive: true, force: true })
    if ('failure' in outcome) return outcome.failure.reason
    const { dataset = expect.unreachable() } = outcome
    if (cursor) this.#base = { dataset: dataset.dataset, digest: dataset.digest }
    const folder = path.join(at('datasets'), tenant_id, run, 'read')
    const manifest: LandedDataset = JSON.parse(readFileSync(path.join(folder, 'dataset.json'), 'utf8'))
    return { rows: (await readLanded(folder)).map(([first]) => first), manifest, log: outcome.log }
  }

  /** The first column of what landed. */
  async read(params: Readonly<Record<string, unknown>> = {}) {
    const landed = await this.run(params)
    return typeof landed === 'string' ? landed : landed.rows
  }

  [Symbol.dispose](): void {
    rmSync(this.#root, { recursive: true, force: true })
  }
}

async function withSource<T>(variant: ObjectSourceVariant, prefix: string, use: (source: ObjectSource) => Promise<T>) {
  const source = await openObjectSource(variant.connect(prefix), variant.settings)
  try {
    return await use(source)
  } finally {
    source.close()
  }
}

async function list(source: ObjectSource, prefix: string): Promise<StoredObject[][]> {
  const pages: StoredObject[][] = []
  let from: string | undefined
  do {
    const { objects, next } = await source.listPage(prefix, from, never)
    pages.push([...objects])
    from = next
  } while (from !== undefined)
  return pages
}

async function readAll(source: ObjectSource, object: StoredObject, from = 0): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of source.readObject(object, from, never)) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

function expectNothingHidden({ hidden }: ObjectSourceVariant, text: string): void {
  for (const each of hidden) expect(text).not.toContain(each)
}

/** Title to the requirement. */
export const objectRequirements: Readonly<Record<string, (variant: ObjectSourceVariant) => Promise<void>>> = {
  async 'objects of several formats land as one dataset, each with its key and digest'(variant) {
    await variant.put('formats/1.csv', 'id,name\n1,Ann\n')
    await variant.put('formats/2.jsonl', '{"id":2,"name":"Bob"}\n')
    await variant.put('formats/3.json', '[{"id":3,"name":"Eve"}]')
    await variant.put('formats-beside.csv', 'id,name\n9,Zoe\n')
    using runs = new ObjectRuns(variant, variant.connect('formats/'))
    const landed = await runs.run()
    if (typeof landed === 'string') return expect(landed).toBe('a dataset')
    expect(landed.rows.toSorted()).toEqual(['1', '2', '3'])
    const sha256 = createHash('sha256').update('id,name\n1,Ann\n').digest('hex')
    expect(landed.manifest.inputs.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toMatchObject([
      { name: 'formats/1.csv', bytes: 14, sha256, rows: 1 },
      { name: 'formats/2.jsonl', rows: 1 },
      { name: 'formats/3.json', rows: 1 },
    ])
    expect(landed.manifest.columns).toMatchObject([{ name: 'id', type: 'int64' }, { name: 'name' }])
  },
  async 'keys that differ by case, or read as paths or code, are those of their own objects'(variant) {
    for (const [at, key] of variant.strange_keys.entries()) await variant.put(`strange/${key}`, `id\n${at}\n`)
    using runs = new ObjectRuns(variant, variant.connect('strange/'))
    const landed = await runs.run({ read_as: { format: 'csv' } })
    if (typeof landed === 'string') return expect(landed).toBe('a dataset')
    const names = landed.manifest.inputs.map(({ name }) => name.slice('strange/'.length))
    expect(names.toSorted()).toEqual(variant.strange_keys.toSorted())
    // The content of each is that of its own key.
    expect(landed.rows).toEqual(names.map((name) => String(variant.strange_keys.indexOf(name))))
  },
  async 'each run lands the objects that no run before has landed'(variant) {
    const news = { only_new: true, pattern: '**/*.csv' }
    using runs = new ObjectRuns(variant, variant.connect('news/'))
    expect(await runs.read(news)).toContain('no object matches')
    await variant.put('news/1.csv', 'id\n1\n')
    await variant.put('news/deep/2.csv', 'id\n2\n')
    await variant.put('news/note.txt', 'not read')
    expect(await runs.read(news)).toEqual(['1', '2'])
    expect(await runs.read(news)).toEqual([])
    await variant.put('news/1.csv', 'id\n3\n')
    await variant.put('news/4.csv', 'id\n4\n')
    expect(await runs.read(news)).toEqual(['3', '4'])
    await variant.remove('news/deep/2.csv')
    expect(await runs.read(news)).toEqual([])
    for (const id of [5, 6, 7]) await variant.put(`news/${id}.csv`, `id\n${id}\n`)
    expect(await runs.read({ ...news, max_objects: 2 })).toEqual(['5', '6'])
    const last = await runs.run({ ...news, max_objects: 2 })
    expect(last).toMatchObject({ rows: ['7'], log: expect.stringContaining('took 1 of 5 objects') })
  },
  async 'more than a task takes, or nothing, is refused with what to do'(variant) {
    for (const id of [1, 2, 3]) await variant.put(`many/${id}.csv`, `id\n${id}\n`)
    await variant.put('many/4.bin', 'id\n4\n')
    using runs = new ObjectRuns(variant, variant.connect('many/'))
    expect(await runs.read({ pattern: '*.csv', max_objects: 2 })).toContain('3 objects match, more than one task takes')
    expect(await runs.read({ prefix: '2' })).toEqual(['2'])
    expect(await runs.read({ prefix: 'none' })).toContain('no object matches')
    expect(await runs.read()).toContain('the format of the object "many/4.bin" is unknown by its key')
    const [small, both] = [
      { bytes: 4, total_bytes: 99 },
      { bytes: 99, total_bytes: 10 },
    ]
    const refusal = 'the object "many/1.csv" has 5 bytes, more than the 4 that a task downloads'
    expect(await runs.run({ pattern: '*.csv' }, { object_limits: small })).toContain(refusal)
    const first = await runs.run({ pattern: '*.csv', only_new: true }, { object_limits: both })
    expect(first).toMatchObject({ rows: ['1', '2'], log: expect.stringContaining('the next run takes 1 more') })
  },
  async 'a listing of several pages has each object once'(variant) {
    const keys = Array.from({ length: 1_050 }, (_, at) => `pages/${String(at).padStart(4, '0')}`)
    for (let at = 0; at < keys.length; at += 50)
      await Promise.all(keys.slice(at, at + 50).map((key) => variant.put(key, 'x')))
    const pages = await withSource(variant, 'pages/', async (source) => await list(source, 'pages/'))
    expect(pages.length).toBeGreaterThan(1)
    expect(pages.flat().map(({ key }) => key)).toEqual(keys)
  },
  async 'an object is read on from any byte, and only in the version that was listed'(variant) {
    await variant.put('versions/a', '0123456789')
    await withSource(variant, 'versions/', async (source) => {
      const [object = expect.unreachable()] = (await list(source, 'versions/')).flat()
      expect([await readAll(source, object), await readAll(source, object, 7)]).toEqual(['0123456789', '789'])
      await variant.put('versions/a', '9876543210')
      await expect(readAll(source, object)).rejects.toThrow(ObjectChangedError)
      await expect(readAll(source, object, 7)).rejects.toThrow(ObjectChangedError)
      await variant.remove('versions/a')
      await expect(readAll(source, object)).rejects.toThrow(ObjectChangedError)
    })
  },
  async 'a test says what is there, and what fails has the documented words and no place or secret'(variant) {
    const test = async (connection: OpenConnection) =>
      await probeConnection({ ...variant.settings, probe: true, connection })
    expect(await test(variant.connect('test/'))).toMatchObject({ ok: true })
    for (const [name, [connection, refusal]] of Object.entries(variant.failing)) {
      const tested = await test(connection)
      expect(tested, name).toMatchObject({ ok: false, detail: expect.stringContaining(refusal) })
      expectNothingHidden(variant, tested.detail)
    }
    const [[connection, refusal] = expect.unreachable()] = Object.values(variant.failing)
    using runs = new ObjectRuns(variant, connection)
    const reason = String(await runs.read())
    expect(reason).toContain(refusal)
    expectNothingHidden(variant, reason)
  },
}
