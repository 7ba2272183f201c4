// A hub beyond this machine is spoken to by TLS alone, and only where its certificate is one of the coalition's.
import { afterAll, beforeAll, expect } from 'vitest'
import { coalitionCarrier } from '../../../adapters/transport/coalition/coalition-carrier.ts'
import type { Log } from '../../../daemon/kernel/call.ts'
import { serverCertificates } from '../../support/engines/server-certificates.ts'
import { requires } from '../../support/requires.ts'
import { until } from '../../support/site-world.ts'
import { type ServedHub, servedHub } from './served-hub.ts'

const test = requires('openssl')
let hub: ServedHub
let ca: string
const made: ReturnType<typeof serverCertificates>[] = []

/** Of an authority of its own. */
function certificate() {
  const files = serverCertificates('hub')
  made.push(files)
  return files.of('hub')
}

beforeAll(async () => {
  const own = certificate()
  ca = own.ca
  hub = await servedHub({ tls_cert_file: own.cert, tls_key_file: own.key })
})
afterAll(async () => {
  await hub?.close()
  for (const files of made) files.dispose()
})

function joining(ca_file: string | undefined, hub_url: string, lines: string[]) {
  const line = (event: string, fields?: object) => void lines.push(JSON.stringify({ event, ...fields }))
  const log: Log = { debug: line, info: line, warn: line, error: line }
  const about = {
    kind: 'mission_service' as const,
    site: 'alpha',
    node_tenant_id: 'a',
    description: '',
    capabilities: [],
  }
  const capability = { hosts: [], accepts: [] }
  const way = { ...hub.way('alpha'), hub_url, ca_file }
  return coalitionCarrier({ ...way, peers: [], registration: about, capability, log, chance: () => 0 })
}

test('a hub of an unknown authority is told nothing, and one of the coalition is joined', async () => {
  const hub_url = hub.way('alpha').hub_url.replace('http:', 'https:')
  const other = certificate().ca
  for (const authority of [undefined, other]) {
    const lines: string[] = []
    const carrier = joining(authority, hub_url, lines)
    await carrier.start(
      async () => [],
      async () => undefined,
    )
    await until(() => lines.some((text) => /certificate/i.test(text)))
    await carrier.stop()
    expect(await hub.isThere('alpha')).toBe(false)
  }
  const lines: string[] = []
  const carrier = joining(ca, hub_url, lines)
  await carrier.start(
    async () => [],
    async () => undefined,
  )
  expect((await carrier.health()).ok).toBe(false)
  await until(async () => (await carrier.health()).ok)
  await carrier.stop()
  expect(lines).toEqual([expect.stringContaining('coalition.hub.reached')])
  expect(await hub.isThere('alpha')).toBe(true)
})

test('a file of authorities that cannot be read is said at the start', () => {
  expect(() => joining('/nowhere/ca.pem', 'https://127.0.0.1:1', [])).toThrow('ENOENT')
})
