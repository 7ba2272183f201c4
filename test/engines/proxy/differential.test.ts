// The proxy beside nginx and HAProxy with the same rules: they forward each request that it forwards, in the same form.
import fc from 'fast-check'
import { afterAll, beforeAll, expect } from 'vitest'
import { haproxyPeer, nginxPeer, type PeerProxy, peerProxiesRequirement } from '../../support/engines/peer-proxies.ts'
import { corpusAllowlist, readCorpusRows } from '../../support/proxy/corpus-row.ts'
import { hostileRequests } from '../../support/proxy/hostile-bytes.ts'
import { startProxyThread, type TestProxyThread } from '../../support/proxy/proxy-thread.ts'
import { readUntilClose } from '../../support/proxy/read-until-close.ts'
import {
  type ForwardedRequest,
  type RecordingUpstream,
  respondOk,
  startRecordingUpstream,
} from '../../support/proxy/recording-upstream.ts'
import { whenPresent } from '../../support/runner/requires.ts'

const test = whenPresent(peerProxiesRequirement)
/** FAST_CHECK_SEED and FAST_CHECK_RUNS go further than each check of the project does. */
const seed = Number(process.env.FAST_CHECK_SEED ?? 20_260_101)
const numRuns = Number(process.env.FAST_CHECK_RUNS ?? 600)

type ComparedProxy = { readonly name: string; readonly port: number; readonly upstream: RecordingUpstream }

let thread: TestProxyThread
const peers: PeerProxy[] = []
let comparedProxies: readonly ComparedProxy[]

beforeAll(async () => {
  if (!peerProxiesRequirement.isPresent) return
  thread = await startProxyThread({
    allowlist: corpusAllowlist,
    header_timeout_s: 5,
    body_timeout_s: 5,
    keep_alive_s: 1,
  })
  const made = [nginxPeer, haproxyPeer].map(async (make): Promise<ComparedProxy> => {
    const upstream = await startRecordingUpstream(respondOk)
    const peer = await make(upstream.port)
    peers.push(peer)
    await peer.start()
    return { name: peer.name, port: peer.port, upstream }
  })
  comparedProxies = await Promise.all(made)
})
afterAll(async () => {
  await thread?.end()
  await thread?.remove()
  for (const peer of peers) await peer.end()
  for (const { upstream } of comparedProxies ?? []) await upstream.close()
})

const lastRequest = 'OPTIONS /the-last-one HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

/** The statuses of all answers at the end of the connection, which the last request closes. */
async function sendBytes(port: number, bytes: string): Promise<number[]> {
  const text = await readUntilClose(port, [bytes + lastRequest])
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
}

type ProxyOutcome = { readonly reached: readonly ForwardedRequest[]; readonly statuses: readonly number[] }

/** The outcome at the proxy, then at the others. */
async function collectOutcomes(bytes: string): Promise<ProxyOutcome[]> {
  const all = [{ port: thread.port, upstream: thread.upstream }, ...comparedProxies]
  for (const { upstream } of all) upstream.requests.length = 0
  const statuses = await Promise.all(all.map(({ port }) => sendBytes(port, bytes)))
  return all.map(({ upstream }, at) => ({ reached: [...upstream.requests], statuses: statuses[at] ?? [] }))
}

const decodePercent = (text: string) =>
  text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))

/** The path as a backend reads it, in any escaping. */
const normaliseRequest = ({ method, target, body }: ForwardedRequest) => {
  const [path = '', ...query] = target.split('?')
  return JSON.stringify([method, decodePercent(path), decodePercent(query.join('?')), body])
}

/** Those of `ours` that are not among `theirs`, in that order. */
function findMissing(ours: readonly ForwardedRequest[], theirs: readonly ForwardedRequest[]): string[] {
  let at = 0
  return ours.flatMap((request) => {
    const found = theirs.findIndex(
      (other, place) => place >= at && normaliseRequest(other) === normaliseRequest(request),
    )
    if (found < 0) return [normaliseRequest(request)]
    at = found + 1
    return []
  })
}

/** nginx takes these once; the proxy joins lists to one field, and removes any number of credentials. */
const repeatedHeader = /^(authorization|if-none-match|if-match):[\s\S]*^\1:/im

/** The other closed the connection over a request that the proxy refused by itself, and so never reached the next one. */
const hasEndedEarlier = (ours: ProxyOutcome, theirs: ProxyOutcome) =>
  theirs.statuses.includes(400) && ours.statuses.some((status) => status >= 400)

async function compareProxies(all: readonly string[]) {
  const wrong: string[] = []
  let agreed = 0
  let stricter = 0
  for (const bytes of all) {
    const [ours, ...others] = (await collectOutcomes(bytes)) as [ProxyOutcome, ...ProxyOutcome[]]
    for (const [at, theirs] of others.entries()) {
      const name = comparedProxies[at]?.name
      const lacking = findMissing(ours.reached, theirs.reached)
      if (lacking.length === 0) agreed += ours.reached.length
      else if (!hasEndedEarlier(ours, theirs) && !(name === 'nginx' && repeatedHeader.test(bytes))) {
        wrong.push(
          `${name} has ${theirs.reached.map(normaliseRequest).join(' ')}, not ${lacking.join(' ')}: ${JSON.stringify(bytes)}`,
        )
      }
      if (theirs.reached.length > ours.reached.length) stricter += 1
    }
  }
  return { wrong, agreed, stricter }
}

test(`for any bytes, by seed ${seed}: the proxy forwards nothing that the others refuse, or read differently`, async () => {
  const { wrong, agreed, stricter } = await compareProxies(fc.sample(hostileRequests, { seed, numRuns }))
  expect(wrong).toEqual([])
  expect(agreed).toBeGreaterThan(numRuns / 10)
  expect(stricter).toBeGreaterThan(0)
})

test('of the corpus too', async () => {
  const rows = readCorpusRows().filter(({ slow, raw_b64 }) => !slow && raw_b64.length < 40_000)
  const { wrong, agreed } = await compareProxies(
    rows.map(({ raw_b64 }) => Buffer.from(raw_b64, 'base64').toString('latin1')),
  )
  expect(wrong).toEqual([])
  expect(agreed).toBeGreaterThan(50)
})
