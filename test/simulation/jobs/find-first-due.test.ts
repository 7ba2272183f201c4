// A look for due work costs what may begin, however much waits behind the limit of a tenant.
import { expect, test } from 'vitest'
import { findFirstDue } from '../../../daemon/kernel/store/find-first-due.ts'
import type { Filter, ListQuery } from '../../../daemon/kernel/store/store.ts'
import { openTemporaryStore } from '../../support/store/open-temporary-store.ts'
import { buildWork, works } from './work-job.ts'

test('the documents of a tenant at its limit are not read', async () => {
  const { store } = openTemporaryStore(works)
  for (let at = 0; at < 40; at++) await store.create(works, `alpha_${at}`, buildWork(1, 'ann', 1_000 + at))
  await store.create(works, 'bravo_1', { ...buildWork(1, 'bob', 2_000), tenant_id: 'bravo' })
  const listed: (Filter | undefined)[] = []
  const from = {
    countBy: (field: string, filter?: Filter) => store.countBy(works, field, filter),
    list(query: ListQuery) {
      listed.push(query.filter)
      return store.list(works, query)
    },
  }
  const choice = { isOpen: (tenant_id: string) => tenant_id !== 'alpha', isFree: () => true }
  const due = await findFirstDue(from, { job_due_ts: { lte: 9_000 } }, choice)
  expect(due.map(({ id }) => id)).toEqual(['bravo_1'])
  expect(listed.map((filter) => filter?.tenant_id)).toEqual(['bravo'])
})
