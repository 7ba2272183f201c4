// Requests whose cost lies in stored data: long values under expensive comparators, many records, sessions in conflict.
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
      blocking: [{ keys: comparators.map((name) => `prefix(${name}, 4)`).slice(0, 1) }],
    },
  })
  const records = Array.from({ length: slow_records }, (_, at) => ({ id: `r${at}`, ...buildLongRecord(at) }))
  const run = await send('resolution', 'POST', '/api/v2/fusion/run', { lens_id: lens, node_data: { a: records } })
  await vi.waitFor(
    async () => {
      const path = `/api/v2/fusion/status?run_id=${String(run.run_id)}`
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
  const session = await buildConflict(send)
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
          records: Array.from({ length: 60 }, (_, at) => ({ id: `n${at}`, ...buildLongRecord(2_000 + at) })),
        },
      ],
    },
    { name: '16 contributors in conflict', address: 'consensus.session.get', inputs: [{ id: session }] },
  ]
}

/** A session of sixteen, where the smallest set that keeps it from ratifying is the hardest to find. */
async function buildConflict(
  send: (role: string, method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>,
): Promise<string> {
  const policy = { m: 8, n: 16, ratify_threshold: 0.99, conflict_threshold: 0.1, combination_method: 'dempster_shafer' }
  const subject = { kind: 'entity_match', left: 'l', right: 'r' }
  const { id } = await send('consensus', 'POST', '/api/v2/consensus/session', { subject, policy })
  for (let at = 0; at < 16; at++) {
    await send('consensus', 'POST', `/api/v2/consensus/session/${String(id)}/contribution`, {
      ...{ contributor_id: `c${at}`, pair_score: at % 2 === 0 ? 0.9 + at / 1_000 : 0.1 + at / 1_000 },
      ...{ accuracy: 0.9, credibility: 0.5 + at / 100 },
    })
  }
  return String(id)
}
