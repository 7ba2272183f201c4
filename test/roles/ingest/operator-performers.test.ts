// Each operator of the catalog is performed in one place: in a thread, or by the job of the run that requests another role.
import { expect, test } from 'vitest'
import { everyRole } from '../../../daemon/every-role.ts'
import { operators } from '../../../daemon/roles/ingest/operator/catalog.ts'
import { findRequest } from '../../../daemon/roles/ingest/requested-task/requested-task.ts'
import { performers } from '../../../daemon/runtime/ingest/steps/performers.ts'
import { dagTask } from '../../../daemon/shared/assembled-dag/assembled-dag.ts'

test.each(operators)('$name', ({ name, requests, makes_dataset }) => {
  const isRequested = findRequest(dagTask.parse({ name: 'a', operator: name })) !== undefined
  expect([isRequested, Object.hasOwn(performers, name)]).toEqual([requests !== undefined, requests === undefined])
  if (requests === undefined) return
  expect(everyRole.map((role) => role.name)).toContain(requests)
  expect(makes_dataset).toBe(false)
})

test('no name of an object is an operator', () => {
  expect(findRequest(dagTask.parse({ name: 'a', operator: 'constructor' }))).toBeUndefined()
})
