// A site whose roles start and stop apart, as processes do, and meet at their sockets.
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { type RunningSite, serve } from '../../../daemon/boot/serve.ts'
import { roleSocketFile } from '../../../daemon/boot/storage/site-folder.ts'
import { everyOperation } from '../../../daemon/every-role.ts'
import { type ErrorCode, refuse } from '../../../daemon/kernel/error/errors.ts'
import { problemOf } from '../../../daemon/kernel/error/problem.ts'
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
  const urlOf = (role: string) => serviceOf(role).urls.find((each) => each.startsWith('http')) ?? ''
  const call: typeof world.call = async (role, method, at, body, sent) =>
    await sendHttpRequest(urlOf(role), method, at, body, sent)
  return {
    warnings,
    tenant: world.tenant,
    url: urlOf,
    token: world.token,
    store: () => serviceOf('ingest').context.store,
    clock: world.clock,
    wake: (worker: string) => serviceOf('ingest').wake(worker),
    as: async () => createCheckedClient({ call }, await world.token(), roleOf),
    async start(...names: string[]) {
      const options = { folder: world.folder, env: {}, clock: world.clock, log }
      running.set(names.join(), await serve({ ...options, roles: names }))
    },
    /** Answers in place of a role that does not run: with this refusal, `times` times, then `unavailable`. Returns the end of that. */
    async refuseFor(role: string, code: ErrorCode, times: number) {
      let left = times
      const server = createServer((_request, response) => {
        const refusal = refuse(left > 0 ? code : 'unavailable', `${role} is not itself`)
        left -= 1
        const headers = { 'content-type': 'application/problem+json', connection: 'close' }
        response.writeHead(refusal.row.status, headers).end(JSON.stringify(problemOf(refusal, '0'.repeat(32))))
      })
      const socket = roleSocketFile(world.folder, role)
      mkdirSync(path.dirname(socket), { recursive: true, mode: 0o700 })
      await new Promise<void>((resolve) => server.listen(socket, resolve))
      return async () => void (await new Promise((resolve) => server.close(resolve)))
    },
    async stop(...names: string[]) {
      await running.get(names.join())?.stop()
      running.delete(names.join())
    },
  }
}

export type DividedSite = Awaited<ReturnType<typeof openDividedSite>>
