// A hub beyond this machine is reached by TLS alone, and only where its certificate is one of the coalition's.
import { afterAll, beforeAll, expect } from 'vitest'
import { coalitionCarrier } from '../../../adapters/transport/coalition/coalition-carrier.ts'
import type { Log } from '../../../daemon/kernel/telemetry/log.ts'
import { issueServerCertificates } from '../../support/engines/server-certificates.ts'
import { requires } from '../../support/runner/requires.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { startTestHub, type TestHub } from './test-hub.ts'

const test = requires('openssl')
let hub: TestHub
let ca: string
const certificateSets: ReturnType<typeof issueServerCertificates>[] = []

/** Of an authority of its own. */
function issueCertificate() {
  const files = issueServerCertificates('hub')
  certificateSets.push(files)
  return files.of('hub')
}

beforeAll(async () => {
  const own = issueCertificate()
  ca = own.ca
  hub = await startTestHub({ tls_cert_file: own.cert, tls_key_file: own.key })
})
afterAll(async () => {
  await hub?.close()
  for (const files of certificateSets) files.dispose()
})

function startCarrier(ca_file: string | undefined, hub_url: string, lines: string[]) {
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
  const way = { ...hub.endpoint('alpha'), hub_url, ca_file }
  return coalitionCarrier({ ...way, peers: [], registration: about, capability, log, chance: () => 0 })
}

test('sends nothing to a hub of an unknown authority, and joins one of the coalition', async () => {
  const hub_url = hub.endpoint('alpha').hub_url.replace('http:', 'https:')
  const other = issueCertificate().ca
  for (const authority of [undefined, other]) {
    const lines: string[] = []
    const carrier = startCarrier(authority, hub_url, lines)
    await carrier.start(
      async () => [],
      async () => undefined,
    )
    await waitUntil(() => lines.some((text) => /certificate/i.test(text)))
    await carrier.stop()
    expect(await hub.isRegistered('alpha')).toBe(false)
  }
  const lines: string[] = []
  const carrier = startCarrier(ca, hub_url, lines)
  await carrier.start(
    async () => [],
    async () => undefined,
  )
  expect((await carrier.health()).ok).toBe(false)
  await waitUntil(async () => (await carrier.health()).ok)
  await carrier.stop()
  expect(lines).toEqual([expect.stringContaining('coalition.hub.reached')])
  expect(await hub.isRegistered('alpha')).toBe(true)
})

test('reports an unreadable file of authorities at the start', () => {
  expect(() => startCarrier('/nowhere/ca.pem', 'https://127.0.0.1:1', [])).toThrow('ENOENT')
})
