// Requests whose cost lies in stored data: long values under expensive comparators, and many records.
import { expect, vi } from 'vitest'
import type { OperationFixture } from './operation-fixture.ts'

export type HardCase = {
  readonly name: string
  readonly address: string
  readonly inputs: readonly Readonly<Record<string, unknown>>[]
}

const value_letters = 8_000
const slow_records = 200
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

export async function buildHardCases({ site, admin }: OperationFixture): Promise<readonly HardCase[]> {
  const send = async (role: string, method: string, path: string, body?: unknown) => {
    const { status, text, json } = await site.request(role, { method, path, token: admin, ...(body ? { body } : {}) })
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
  const records = Array.from({ length: slow_records }, (_, at) => ({ id: `r${at}`, ...buildLongRecord(at) }))
  const run = await send('resolution', 'POST', '/api/v2/fusion/run', { lens_id: lens, node_data: { a: records } })
  await vi.waitFor(
    async () => {
      const path = `/api/v2/fusion/run/${String(run.run_id)}/status`
      expect(await send('resolution', 'GET', path)).toMatchObject({ state: 'completed' })
    },
    { timeout: 240_000, interval: 500 },
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
