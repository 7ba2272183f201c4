// A worker follows the tools of a service for the person who registered it, until the person is revoked or the role stops.
import { expect, onTestFinished, test } from 'vitest'
import { addressRule } from '../../adapters/platform/address-rule/address-rule.ts'
import { mcpToolServices } from '../../adapters/tools/mcp/connect-tools.ts'
import { announcementBus } from '../../daemon/boot/announcement-bus.ts'
import { buildRoleEnvironment } from '../../daemon/boot/role-environment.ts'
import { startWorkers } from '../../daemon/boot/workers.ts'
import type { Call } from '../../daemon/kernel/operation/call.ts'
import type { Worker } from '../../daemon/kernel/role/role.ts'
import { followTools, type ToolListing } from '../../daemon/kernel/tools/follow-tools.ts'
import { revoke } from '../../daemon/roles/site/token/revoke.ts'
import { accept, grantOf, readClaims, sampleWork } from '../support/delegation/delegation-answers.ts'
import { startLibraryService } from '../support/mcp/library-service.ts'
import { startTestSite, waitUntil } from '../support/site/test-site.ts'
import { sampleTrace } from '../support/trace/sample-trace.ts'

const limits = { answer_ms: 10_000, answer_bytes: 1_048_576, depth: 64, tools: 100 }
const services = mcpToolServices({ about: { name: 'test', version: '1' }, limits, rule: addressRule(['127.0.0.0/8']) })
const unused = (): never => {
  throw new Error('a worker that follows tools needs no such thing')
}
const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: unused }

test('a worker follows tools with the token of a principal, and ends with its role', async () => {
  const world = await startTestSite({
    profile: {
      platform: { roles: ['site', 'resolution'] },
      resolution: { port: 0 },
      identity: { audiences: { billing: ['resolution'] } },
    },
  })
  onTestFinished(() => world.end())
  const service = await startLibraryService('2026-07-28')
  onTestFinished(() => service.close().catch(() => undefined))
  const token = await world.token({ subject: 'rita', roles: ['analyst'] })
  const principal = accept(await world.delegation('resolution', { subject_token: token }).store(sampleWork))
  const listings: ToolListing[] = []
  const worker: Worker = {
    name: 'follow-tools',
    when: { every_ms: 60_000 },
    async run(call) {
      const address = {
        url: service.url,
        token: async () => accept(await call.delegation(principal, sampleWork).token({ service: 'billing' })).token,
      }
      for await (const listing of followTools(services, address, call)) listings.push(listing)
    },
  }
  const environment = buildRoleEnvironment({
    ...{ role: 'resolution', log, now: world.clock.now, monotonic: () => performance.now(), parts: new Map() },
    ...{ site: undefined as never, settings: undefined as never, metrics: {} as never, bus: announcementBus() },
    ...{ random: () => '000000000000', wake: unused },
  })
  const running = startWorkers({
    ...{ role: 'resolution', workers: [worker], settings: undefined as never, log, record: undefined as never },
    now: world.clock.now,
    newCall: (address, signal) =>
      ({
        ...environment,
        // The waits are those of the role, cut short.
        wait: (_: number, ending: AbortSignal) => environment.wait(1, ending),
        ...{ address, signal, trace: sampleTrace },
        delegation: (stored: typeof principal) => world.delegation('resolution', grantOf(stored)),
      }) as unknown as Call,
  })
  const namesOf = (listing: ToolListing | undefined) =>
    listing && 'tools' in listing ? listing.tools.map(({ name }) => name) : []
  await waitUntil(() => namesOf(listings.at(-1)).length > 0)
  await service.addTool('added')
  await waitUntil(() => namesOf(listings.at(-1)).includes('added'))
  const [, sent = ''] = service.credentials.at(-1)?.split(' ') ?? []
  expect(readClaims(sent)).toMatchObject({ sub: 'rita', aud: 'billing', act: { sub: 'role:resolution' } })
  const olga = await world.as({ subject: 'olga', roles: ['admin'] })
  await olga.ok(revoke, { subject: 'rita', reason: 'left' })
  await service.addTool('later')
  await waitUntil(() => listings.some((listing) => 'trouble' in listing && listing.trouble.code === 'forbidden'))
  expect(listings.flatMap(namesOf)).not.toContain('later')
  await running.stop()
}, 30_000)

test('a wait of a role ends with its time, and at once with its signal', async () => {
  const { wait } = buildRoleEnvironment({ bus: announcementBus(), metrics: {} } as never)
  await wait(1, new AbortController().signal)
  const ending = new AbortController()
  const waiting = wait(3_600_000, ending.signal)
  ending.abort()
  await waiting
  await wait(3_600_000, ending.signal)
})
