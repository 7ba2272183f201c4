// Holds that each chain of the site has one head in an inventory, the newest, and chains of others none.
import { expect, test } from 'vitest'
import { openTemporaryStore } from '../../../test/support/store/open-temporary-store.ts'
import { checkpoints } from '../../roles/site/checkpoint/model.ts'
import { newestCheckpoints } from './newest-checkpoints.ts'

const site = { name: 'alpha', tenant_id: 'tenant-a' }
const signature = { payload: 'e30', signatures: [{ protected: 'e30', signature: 'AA' }] }

test('the newest head of each role, by its number and not by its time', async () => {
  const { store } = openTemporaryStore(checkpoints)
  const anchored = async (writer: string, seq: number, tenant_id = site.tenant_id) => {
    const at = `2026-03-01T12:00:${String(60 - seq).padStart(2, '0')}.000Z`
    const head = { writer, seq, hash: 'a'.repeat(64), at, signature }
    await store.create(checkpoints, `${writer}:${String(seq).padStart(16, '0')}`, { tenant_id, ...head })
    return head
  }
  for (const seq of [9, 10, 2]) await anchored('site@alpha', seq)
  const consensus = await anchored('consensus@alpha', 3)
  await anchored('site@bravo', 40)
  await anchored('site@alpha', 50, 'tenant-b')
  const found = await newestCheckpoints(store, site)()
  expect(found).toHaveLength(2)
  expect(found).toContainEqual(consensus)
  expect(found.find(({ writer }) => writer === 'site@alpha')?.seq).toBe(10)
})
