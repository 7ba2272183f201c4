// In profiles C and D the listeners for other machines leave out what roles request of each other, and what is declared inside.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { everyRole } from '../../daemon/every-role.ts'
import { hasBody, isInside, isRouted } from '../../daemon/kernel/operation/operation.ts'
import { operationsOf } from '../../daemon/kernel/role/built-in-operations.ts'
import { sendHttpRequest } from '../support/http/send-http-request.ts'
import { createTestSite, type TestSite } from '../support/site/test-site.ts'

let world: TestSite
beforeAll(async () => {
  const internal = { metrics_listen: '127.0.0.1:0' }
  world = await createTestSite({
    template: 'classified-airgapped',
    profile: { site: internal, consensus: internal },
  })
  await world.start()
})
afterAll(async () => {
  await world?.end()
  expect(world?.loggedErrors ?? []).toEqual([])
})

const operations = everyRole
  .filter(({ name }) => name === 'site' || name === 'consensus')
  .flatMap((role) => operationsOf(role))
  .filter(isRouted)

test('every operation that allows roles alone belongs inside, and so do metrics and backups', () => {
  const inside = operations.filter(({ operation }) => isInside(operation)).map(({ address }) => address)
  expect(inside).toEqual(
    expect.arrayContaining([
      ...operations.filter(({ operation }) => operation.allow === 'role').map(({ address }) => address),
      ...['site.service.metrics', 'consensus.service.metrics', 'site.service.backup'],
    ]),
  )
  expect(inside).toEqual(
    expect.arrayContaining(['site.data-key.create', 'site.data-key.open', 'site.signature.create']),
  )
})

test('they are neither served there nor in the OpenAPI document', async () => {
  const token = await world.token({ roles: ['admin'] })
  for (const role of ['site', 'consensus']) {
    const { text } = await sendHttpRequest(world.url(role), 'GET', '/openapi.json', undefined, { token })
    const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, unknown>> }
    for (const { operation } of operations.filter(({ address }) => address.startsWith(`${role}.`))) {
      if (!isInside(operation)) continue
      const answer = await sendHttpRequest(
        world.url(role),
        operation.method,
        operation.path,
        hasBody(operation.method) ? {} : undefined,
        { token },
      )
      expect([operation.path, answer.status]).toEqual([operation.path, 404])
      expect(paths[operation.path]?.[operation.method.toLowerCase()]).toBeUndefined()
    }
  }
})
