// The public suite of HTTP/2 (h2spec) against the edge: over TLS, before one service, and before the gateway in the path of REST.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect } from 'vitest'
import { type EdgeSite, startEdgeSite } from '../../roles/edge/edge-site.ts'
import { createAuthority, issueCertificate } from '../../support/keys/site-certificates.ts'
import { startTokenProxy, type TokenProxy } from '../../support/mcp/token-proxy.ts'
import { type RecordingUpstream, respondOk, startRecordingUpstream } from '../../support/proxy/recording-upstream.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { startTestSite, type TestSite } from '../../support/site/test-site.ts'

const program = process.env.H2SPEC ?? ''
const test = whenPresent({
  isPresent: program !== '',
  name: 'h2spec',
  hint: 'H2SPEC names the program; .ci/run builds it',
})

let folder: string
let owner: RecordingUpstream
let gateway: TestSite
let admitting: TokenProxy
let edge: EdgeSite
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'h2spec-'))
  const { pem } = await issueCertificate(folder, await createAuthority(folder, 'house'), 'edge')
  const file = path.join(folder, 'edge.pem')
  writeFileSync(file, pem, { mode: 0o600 })
  owner = await startRecordingUpstream(respondOk)
  const url = `http://127.0.0.1:${owner.port}`
  gateway = await startTestSite({
    profile: {
      platform: { roles: ['site', 'gateway'] },
      gateway: { port: 0 },
      ingress: { rest_gateway: { enabled: true }, backends: { 'resolution-service': [url] } },
    },
  })
  admitting = await startTokenProxy(Number(new URL(gateway.url('gateway')).port), await gateway.token())
  edge = await startEdgeSite({
    backends: { 'consensus-service': [url], 'resolution-service': [admitting.url] },
    edge: { tls_cert_file: file, tls_key_file: file, https_port: 8_443 },
  })
})
afterAll(async () => {
  await edge?.site.end()
  await admitting?.close()
  await gateway?.end()
  await owner?.close()
  rmSync(folder, { recursive: true, force: true })
})

const streamForgotten =
  'Node makes nghttp2 forget a stream at its end (nghttp2_option_set_no_closed_streams), and skip what follows on it'
const noPriority = 'RFC 9113, section 5.3.2: priorities are deprecated; nghttp2 skips these frames'

/** Cases of RFC 7540 that the library below decides otherwise, each with its reason. */
const otherwise: Readonly<Record<string, string>> = {
  'http2/5.1 closed: Sends a DATA frame after sending RST_STREAM frame': streamForgotten,
  'http2/5.1 closed: Sends a HEADERS frame after sending RST_STREAM frame': streamForgotten,
  'http2/5.1 closed: Sends a DATA frame': streamForgotten,
  'http2/5.1 closed: Sends a HEADERS frame': streamForgotten,
  'http2/5.1.1 Sends stream identifier that is numerically smaller than previous': streamForgotten,
  'http2/5.3.1 Sends PRIORITY frame that depend on itself': noPriority,
  'http2/6.3 Sends a PRIORITY frame with 0x0 stream identifier': noPriority,
  'http2/6.7 Sends a PING frame with ACK':
    'Node ends a connection with GOAWAY at an acknowledgement of a PING that it has not sent',
  'http2/6.9.1 Sends multiple WINDOW_UPDATE frames increasing the flow control window to above 2^31-1 on a stream':
    'Node ends the connection with GOAWAY, not the stream alone',
}

/** Cases about streams that wait for their response: of one that has ended already, they are those above. */
const raced = [
  'http2/5.1 half closed (remote): Sends a DATA frame',
  'http2/5.1 half closed (remote): Sends a HEADERS frame',
  'http2/6.1 Sends a DATA frame on the stream that is not in &#34;open&#34; or &#34;half-closed (local)&#34; state',
]

type SuiteCase = { readonly name: string; readonly isPassed: boolean }

/** All cases, those that RFC 7540 recommends included. The program ends with 1 where a case fails. */
async function runSuite(target: string): Promise<readonly SuiteCase[]> {
  const report = path.join(folder, `${target.replaceAll('/', '-')}.xml`)
  const listener = ['--host', '127.0.0.1', '--port', String(edge.port), '--tls', '--insecure', '--path', target]
  const words = [...listener, '--strict', '--timeout', '2', '--junit-report', report]
  await promisify(execFile)(program, words, { timeout: 100_000, maxBuffer: 16_777_216 }).catch((error: unknown) => {
    if ((error as { code?: unknown }).code !== 1) throw error
  })
  const cases = readFileSync(report, 'utf8').matchAll(
    /<testcase package="([^"]*)" classname="([^"]*)"[^>]*>([\s\S]*?)<\/testcase>/g,
  )
  return [...cases].map(([, section, title, result]) => ({ name: `${section} ${title}`, isPassed: result === '' }))
}

test('every case is held, or decided otherwise for a reason, before a service and before the gateway', async () => {
  const targets = ['/api/v2/consensus/session', '/api/v1/lens']
  const runs = await Promise.all(targets.map(runSuite))
  for (const [at, cases] of runs.entries()) {
    const failed = cases.filter(({ name, isPassed }) => !isPassed && !raced.includes(name)).map(({ name }) => name)
    expect(cases.map(({ name }) => name)).toEqual(expect.arrayContaining(raced))
    expect([targets[at], cases.length, ...failed]).toEqual([targets[at], 146, ...Object.keys(otherwise)])
  }
  for (const target of targets)
    expect(owner.requests.filter((request) => request.target === target).length, target).toBeGreaterThan(40)
  expect(owner.requests.flatMap(({ oddities }) => oddities)).toEqual([])
})
