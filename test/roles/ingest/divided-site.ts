// A site whose roles start and stop apart, as processes do, and meet at their sockets.
import { onTestFinished } from 'vitest'
import { type RunningSite, serve } from '../../../daemon/boot/serve.ts'
import { everyOperation } from '../../../daemon/every-role.ts'
import type { AnyOperation } from '../../../daemon/kernel/operation/operation.ts'
import { createCheckedClient } from '../../support/http/checked-client.ts'
import { sendHttpRequest } from '../../support/http/send-http-request.ts'
import { createTestSite, type ProfileSections } from '../../support/site/test-site.ts'

const roleOf = (operation: AnyOperation) => everyOperation.find((each) => each.operation === operation)?.role ?? ''

/** It ends with the test. */
export async function openDividedSite(roles: readonly string[], more: ProfileSections = {}) {
  const ingest = { port: 0, ...more.ingest }
  const profile = { ...more, platform: { roles: ['site', ...roles] }, ingest, intelligence: { port: 0 } }
  const world = await createTestSite({ profile })
  const running = new Map<string, RunningSite>()
  onTestFinished(async () => {
    for (const process of [...running.values()].toReversed()) await process.stop()
    await world.end()
  })
  const warnings: [event: string, fields: Readonly<Record<string, unknown>>][] = []
  const warn = (event: string, fields: Readonly<Record<string, unknown>> = {}) => warnings.push([event, fields])
  const log = { debug: () => undefined, info: () => undefined, warn, error: warn }
  const serviceOf = (role: string) => {
    const found = [...running.values()].flatMap(({ services }) => services).find((each) => each.role.name === role)
    if (!found) throw new Error(`${role} does not run`)
    return found
  }
  const call: typeof world.call = async (role, method, at, body, sent) => {
    const url = serviceOf(role).urls.find((each) => each.startsWith('http')) ?? ''
    return await sendHttpRequest(url, method, at, body, sent)
  }
  return {
    warnings,
    store: () => serviceOf('ingest').context.store,
    clock: world.clock,
    wake: (worker: string) => serviceOf('ingest').wake(worker),
    as: async () => createCheckedClient({ call }, await world.token(), roleOf),
    async start(...names: string[]) {
      const options = { folder: world.folder, env: {}, clock: world.clock, log }
      running.set(names.join(), await serve({ ...options, roles: names }))
    },
    async stop(...names: string[]) {
      await running.get(names.join())?.stop()
      running.delete(names.join())
    },
  }
}

export type DividedSite = Awaited<ReturnType<typeof openDividedSite>>
