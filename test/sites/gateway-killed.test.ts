// Kills a site with edge and gateway under load, several times: what was acknowledged is there, no request reaches another owner, and no log has a token.
import { appendFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findFreePorts } from '../support/engines/server-process.ts'
import { buildSignalInput } from '../support/every-operation/intelligence-objects.ts'
import { createPackagedSite, type PackagedSite, type ServedSite } from '../support/site/packaged-site.ts'
import { waitUntil } from '../support/site/test-site.ts'

const kills = 4
/** Acknowledged before each kill. */
const signals_between = 15
const writers = 4

let site: PackagedSite
let env: Readonly<Record<string, string>>
let edge: string
let token: string
let served: ServedSite | undefined
const logs: string[] = []

beforeAll(async () => {
  site = createPackagedSite('single-cluster')
  appendFileSync(site.profile, `\ningress: ${JSON.stringify({ rest_gateway: { enabled: true } })}\n`)
  const [gateway = 0, intelligence = 0, http = 0] = await findFreePorts(3)
  env = {
    ...{ PLATFORM_ROLES: 'site,intelligence,gateway,edge', SITE_PORT: '0' },
    ...{ GATEWAY_PORT: String(gateway), INTELLIGENCE_PORT: String(intelligence) },
    ...{ EDGE_PORT: String(http), EDGE_HTTP_PORT: '0' },
  }
  edge = `http://127.0.0.1:${http}`
  const claims = ['--subject', 'ann', '--roles', 'analyst', '--clearance', 'SECRET']
  token = site.run(['token', 'mint', ...claims], env).stdout.trim()
})
afterAll(async () => {
  await served?.kill()
  site?.remove()
})

type Answer = { readonly status: number; readonly json: unknown }

/** Undefined where the process was not there, or went away. */
async function send(method: string, path: string, body?: unknown): Promise<Answer | undefined> {
  try {
    const response = await fetch(`${edge}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, json: await response.json() }
  } catch {
    return undefined
  }
}

const createSignal = (title: string) =>
  send('POST', '/api/v1/signal', { ...buildSignalInput({ classification: 'UNCLASSIFIED' }), title })

test('nothing acknowledged is lost, and nothing goes astray', async () => {
  const acknowledged = new Map<string, string>()
  const unrouted: unknown[] = []
  const ending = new AbortController()
  const write = async (writer: number) => {
    for (let at = 0; !ending.signal.aborted; at += 1) {
      const title = `signal ${writer}-${at}`
      const created = await createSignal(title)
      if (created && created.status < 300) acknowledged.set(String((created.json as { uid: unknown }).uid), title)
      // Of an owner that this site does not have.
      const astray = await send('GET', '/api/v1/lens')
      if (astray && astray.status !== 503) unrouted.push(astray)
    }
  }
  served = await site.serve(env)
  expect(await createSignal('first')).toMatchObject({ status: 201 })
  const work = Array.from({ length: writers }, (_, writer) => write(writer))
  for (let kill = 0; kill < kills; kill += 1) {
    const before = acknowledged.size
    await waitUntil(() => acknowledged.size >= before + signals_between)
    await served.kill()
    logs.push(served.log())
    served = await site.serve(env)
  }
  await waitUntil(() => acknowledged.size > kills * signals_between)
  ending.abort()
  await Promise.all(work)
  for (const [id, title] of acknowledged)
    expect(await send('GET', `/api/v1/signal/${id}`)).toMatchObject({ status: 200, json: { title } })
  expect(await served.stop()).toBe(0)
  logs.push(served.log())
  expect(unrouted).toEqual([])
  for (const log of logs) expect(log).not.toContain(token)
})
