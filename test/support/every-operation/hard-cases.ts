// Requests whose cost lies in stored data: long values under expensive comparators, and many records.
import * as fs from 'node:fs'
import path from 'node:path'
import { expect, vi } from 'vitest'
import type { OperationFixture } from './operation-fixture.ts'

export type HardCase = {
  readonly name: string
  readonly address: string
  readonly inputs: readonly Readonly<Record<string, unknown>>[]
}

const value_letters = 8_000
const lens = 'slow'
const comparators = [
  'levenshtein',
  'damerau_levenshtein',
  'qgram_jaccard',
  'tfidf_cosine',
  'jaro_winkler',
  'set_overlap',
]

/** A long value that shares its beginning with the others, so that they are candidates, and differs afterwards. */
function buildLongValue(seed: number): string {
  let [state, text] = [seed + 1, 'same same ']
  while (text.length < value_letters) {
    state = Math.imul(state, 1_103_515_245) + 12_345
    text += 'abcdefgh '[(state >>> 16) % 9] ?? ''
  }
  return text
}

function buildLongRecord(at: number): Record<string, string> {
  return Object.fromEntries(comparators.map((name, field) => [name, buildLongValue(at * comparators.length + field)]))
}

/** More than the request of a run takes. */
function writeLongRecords(data_folder: string, count: number): void {
  const lines = Array.from({ length: count }, (_, at) => [`r${at}`, ...Object.values(buildLongRecord(at))])
  fs.mkdirSync(path.join(data_folder, 'alpha'), { recursive: true, mode: 0o700 })
  const text = [['id', ...comparators], ...lines].map((cells) => `${cells.join(',')}\n`).join('')
  fs.writeFileSync(path.join(data_folder, 'alpha', 'slow.csv'), text, { mode: 0o600 })
}

/** `data_folder`: that of the role resolution; `long_records`: each of them is compared with every other. */
export async function buildHardCases(
  { site, admin }: OperationFixture,
  data_folder: string,
  long_records: number,
): Promise<readonly HardCase[]> {
  const send = async (role: string, method: string, url: string, body?: unknown) => {
    const { status, text, json } = await site.request(role, {
      method,
      path: url,
      token: admin,
      ...(body ? { body } : {}),
    })
    expect([200, 201, 202], text.slice(0, 500)).toContain(status)
    return json as Record<string, unknown>
  }
  const fields = comparators.map((name) => ({ name, type: 'text', comparator: name, normalisers: ['trim'] }))
  await send('resolution', 'POST', '/api/v2/lens', {
    body: {
      lens,
      version: '1.0.0',
      entity_type: 'slow',
      fields,
      blocking: ['levenshtein:prefix(4)'],
    },
  })
  writeLongRecords(data_folder, long_records)
  const node_data = { a: { file: 'slow.csv' } }
  const run = await send('resolution', 'POST', '/api/v2/fusion/run', { lens_id: lens, node_data })
  await vi.waitFor(
    async () => {
      const url = `/api/v2/fusion/run/${String(run.run_id)}/status`
      expect(await send('resolution', 'GET', url)).toMatchObject({ state: 'completed' })
    },
    { timeout: 240_000 },
  )
  const people = (from: number) =>
    Array.from({ length: 500 }, (_, at) => ({
      id: `arrived${from + at}`,
      given_name: `Given${(from + at) % 97}`,
      surname: `Family${(from + at) % 89}`,
    }))
  return [
    {
      name: 'values of 8,000 characters',
      address: 'resolution.entity.lookup',
      inputs: [{ record: buildLongRecord(1_000), lens_id: lens, limit: 20 }],
    },
    {
      name: '500 ordinary records',
      address: 'resolution.arrival.create',
      inputs: [{ lens_id: 'people', node_id: 'c', records: people(0) }],
    },
    {
      name: 'records of 8,000 characters',
      address: 'resolution.arrival.create',
      inputs: [
        {
          lens_id: lens,
          node_id: 'c',
          records: Array.from({ length: 20 }, (_, at) => ({ id: `n${at}`, ...buildLongRecord(2_000 + at) })),
        },
      ],
    },
  ]
}
