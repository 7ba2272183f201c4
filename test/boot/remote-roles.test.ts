// Roles on two machines, which share no folder: each request goes over TLS with the certificate of the requesting role.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTwoMachines, type Machines } from '../support/site/two-machines.ts'

let machines: Machines
beforeAll(async () => {
  machines = await createTwoMachines({ home: ['site'], away: ['intelligence'] })
  await machines.start('home')
  await machines.start('away')
})
afterAll(async () => {
  await machines?.end()
})

test('a role is ready by the health of the site role on the other machine', async () => {
  const token = await machines.world.token({ roles: ['admin'] })
  const { status, text } = await machines.call('intelligence', 'GET', '/health', undefined, { token })
  console.log(status, text, machines.events.slice(-12))
  expect(text).toContain('ready on another machine')
})
