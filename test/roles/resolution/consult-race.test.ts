// A match that a run publishes while its consultation is requested: its id derives from content, so the caller may know it.
import { expect, test } from 'vitest'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import type { Call } from '../../../daemon/kernel/operation/call.ts'
import { consult } from '../../../daemon/roles/resolution/entity-match/consult.ts'
import { entityMatches, type StoredMatch } from '../../../daemon/roles/resolution/entity-match/model.ts'
import { openTemporaryStore } from '../../support/store/open-temporary-store.ts'

const at = '2026-03-02T12:00:00.000Z'
const match: StoredMatch = {
  ...{ tenant_id: 'alpha', lens: 'people', lens_id: 'lens_1', lens_version: '1.0.0', entity_type: 'person' },
  label: { policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: 'alpha' },
  ...{ run_id: 'run_1', created_at: at, updated_at: at, left_uid: 'rec_1', right_uid: 'rec_2' },
  left: { node_id: 'a', record_id: '1' },
  right: { node_id: 'b', record_id: '2' },
  ...{
    linked: false,
    levels: [],
    score: { bits: 1, probability: 0.6 },
    rank: 1,
    state: 'proposed',
    decided_by: 'engine',
  },
  ...{ reviews: [], attestations: [], rulings: [], above: 0, worth: 1, owes: 0, asks: 0 },
}

const audited = (action: string, target: string) => ({
  ...{ action, target, at, detail: {}, outcome: 'done', subject: 'rev', tenant_id: 'alpha' },
  trace_id: '0'.repeat(32),
})

test('a match that appears after it was looked for is not consulted without a principal', async () => {
  const { store } = openTemporaryStore(entityMatches)
  const call = {
    address: 'resolution.entity-match.consult',
    ...{
      nowIso: () => at,
      wake: () => undefined,
      audited,
      settings: () => ({ roles: ['resolution', 'consensus'], urls: {} }),
    },
    delegation: () => ({ store: async () => ({ subject: 'rev', tenant_id: 'alpha', roles: [], grant: 'sealed' }) }),
    store: () => ({
      async find(id: string) {
        const found = await store.get(entityMatches, id)
        await store.create(entityMatches, id, match)
        return found
      },
      update: (id: string, rule: Parameters<typeof store.update<StoredMatch, unknown>>[2]) =>
        store.update(entityMatches, id, rule),
    }),
  } as unknown as Call
  const requested = { correlation_id: 'match_1', policy: { m: 1, n: 1 }, invite: ['mallory'] }
  const answer = await consult.run(call as never, requested as never)
  expect(isRefusal(answer) && answer.code).toBe('conflict')
  expect((await store.get(entityMatches, 'match_1'))?.value).toMatchObject({ asks: 0 })
})
