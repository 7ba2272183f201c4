// Kills a packaged gateway whose tool servers run: none of their processes survives it, and after a start the tools are there again.
import { randomInt } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { everyOperation } from '../../daemon/every-role.ts'
import { hostileServer, libraryServer, stdioWorld } from '../roles/gateway/stdio-world.ts'
import { findFreePorts } from '../support/engines/server-process.ts'
import { createCheckedClient } from '../support/http/checked-client.ts'
import { sendHttpRequest } from '../support/http/send-http-request.ts'
import { createPackagedSite, type PackagedSite, type ServedSite } from '../support/site/packaged-site.ts'
import { type TestSite, waitUntil } from '../support/site/test-site.ts'

const mark = String(randomInt(10_000_000, 99_999_999))
/** Of processes that a server has started. */
const seconds = `${mark}.5`
/** A server, one that ignores every request to end, and what the first has started. */
const marks = [`tools-${mark}`, `stay-${mark}`, seconds]

let site: PackagedSite
let env: Readonly<Record<string, string>>
let stage: ReturnType<typeof stdioWorld>
let served: ServedSite | undefined

beforeAll(async () => {
  site = createPackagedSite('single-cluster')
  const [port = 0] = await findFreePorts(1)
  const stay = hostileServer('stay')
  const stdio_servers = {
    tools: libraryServer([`tools-${mark}`]),
    stay: { ...stay, command: [...(stay.command as string[]), `stay-${mark}`] },
  }
  const profile = parse(readFileSync(site.profile, 'utf8'))
  writeFileSync(site.profile, stringify({ ...profile, gateway: { ...profile.gateway, port, stdio_servers } }))
  env = { PLATFORM_ROLES: 'site,gateway', SITE_PORT: '0' }
  stage = stdioWorld(callersOf(`http://127.0.0.1:${port}`))
})
afterAll(async () => {
  await served?.kill()
  site?.remove()
})

/** Callers of the packaged gateway, with tokens of its own command. */
function callersOf(url: string): Pick<TestSite, 'as' | 'token' | 'url'> {
  const token: TestSite['token'] = async (who) => {
    const { subject = 'ann', roles = ['analyst'] } = who ?? {}
    return site.run(['token', 'mint', '--subject', subject, '--roles', roles.join()], env).stdout.trim()
  }
  const call: TestSite['call'] = (_, ...request) => sendHttpRequest(url, ...request)
  return {
    token,
    url: () => url,
    as: async (who) => createCheckedClient({ call }, await token(who), (operation) => findRole(operation)),
  }
}

function findRole(operation: (typeof everyOperation)[number]['operation']): string {
  return everyOperation.find((each) => each.operation === operation)?.role ?? ''
}

const listSurvivors = () => marks.filter((each) => stage.isRunning(each))

async function callServers(): Promise<void> {
  expect((await stage.call('tools__echo', { n: 1 })).structured_content).toEqual({ n: 1 })
  expect((await stage.call('stay__act')).is_error).toBe(false)
  await stage.call('tools__fork', { mark: seconds })
  await waitUntil(() => listSurvivors().length === marks.length)
}

test('no process of a server survives a kill, and the accepted tools work after each start', async () => {
  served = await site.serve(env)
  await stage.acceptTools('tools')
  await stage.acceptTools('stay')
  for (let kill = 0; kill < 3; kill += 1) {
    await callServers()
    // One is killed while a call runs in it.
    const running = stage.call('tools__wait').catch(() => 'broken')
    await served.kill()
    expect(await running).toBe('broken')
    await waitUntil(() => listSurvivors().length === 0)
    served = await site.serve(env)
    await waitUntil(async () => (await stage.states('tools')).some((state) => state.endsWith(' offered')))
    await waitUntil(async () => (await stage.states('stay')).some((state) => state.endsWith(' offered')))
  }
  await callServers()
  expect(await served.stop()).toBe(0)
  expect(listSurvivors()).toEqual([])
})
