// The door beside nginx and HAProxy with the same rules: what it forwards they forward too, as the same method, path, query and body.
import { connect } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, expect } from 'vitest'
import { type DoorThread, doorThread } from '../../support/door-thread.ts'
import { haproxyPeer, nginxPeer, type PeerProxy, peersWanted } from '../../support/engines/peer-proxies.ts'
import { whole } from '../../support/hostile-bytes.ts'
import { corpusAllowlist, corpusRows } from '../../support/proxy-corpus.ts'
import { answerOk, type NotingUpstream, notingUpstream, type Reached } from '../../support/reached.ts'
import { whenPresent } from '../../support/requires.ts'

const test = whenPresent(peersWanted)
/** FAST_CHECK_SEED and FAST_CHECK_RUNS go further than each check of the project does. */
const seed = Number(process.env.FAST_CHECK_SEED ?? 20_260_101)
const numRuns = Number(process.env.FAST_CHECK_RUNS ?? 600)

type Judge = { readonly name: string; readonly port: number; readonly upstream: NotingUpstream }

let thread: DoorThread
const peers: PeerProxy[] = []
let judges: readonly Judge[]

beforeAll(async () => {
  if (!peersWanted.isPresent) return
  thread = await doorThread({ allowlist: corpusAllowlist, header_timeout_s: 5, body_timeout_s: 5, keep_alive_s: 1 })
  const made = [nginxPeer, haproxyPeer].map(async (make): Promise<Judge> => {
    const upstream = await notingUpstream(answerOk)
    const peer = await make(upstream.port)
    peers.push(peer)
    await peer.start()
    return { name: peer.name, port: peer.port, upstream }
  })
  judges = await Promise.all(made)
})
afterAll(async () => {
  await thread?.end()
  await thread?.remove()
  for (const peer of peers) await peer.end()
  for (const { upstream } of judges ?? []) await upstream.close()
})

const last = 'OPTIONS /the-last-one HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

/** The statuses of all answers, when the connection is over: what is sent last asks for that. */
function sent(port: number, bytes: string): Promise<number[]> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' })
    const late = setTimeout(() => reject(new Error(`no end: ${JSON.stringify(bytes)}`)), 90_000)
    let text = ''
    socket.setEncoding('latin1').on('data', (piece: string) => {
      text += piece
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(late)
      resolve([...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)))
    })
    socket.write(bytes + last, 'latin1')
  })
}

type Became = { readonly reached: readonly Reached[]; readonly statuses: readonly number[] }

/** What became of them: at the door, then at the others. */
async function became(bytes: string): Promise<Became[]> {
  const all = [{ port: thread.port, upstream: thread.upstream }, ...judges]
  for (const { upstream } of all) upstream.reached.length = 0
  const statuses = await Promise.all(all.map(({ port }) => sent(port, bytes)))
  return all.map(({ upstream }, at) => ({ reached: [...upstream.reached], statuses: statuses[at] ?? [] }))
}

const plain = (text: string) =>
  text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))

/** What a backend takes it for, however it is escaped. */
const meant = ({ method, target, body }: Reached) => {
  const [path = '', ...query] = target.split('?')
  return JSON.stringify([method, plain(path), plain(query.join('?')), body])
}

/** Those of `ours` that are not among `theirs`, in that order. */
function missing(ours: readonly Reached[], theirs: readonly Reached[]): string[] {
  let at = 0
  return ours.flatMap((request) => {
    const found = theirs.findIndex((other, place) => place >= at && meant(other) === meant(request))
    if (found < 0) return [meant(request)]
    at = found + 1
    return []
  })
}

/** nginx takes these once; the door joins lists to one field, and takes credentials away, however many they are. */
const twice = /^(authorization|if-none-match|if-match):[\s\S]*^\1:/im

/** The other ended the connection over a request that the door refused by itself, and so never came to the next one. */
const endedBefore = (ours: Became, theirs: Became) =>
  theirs.statuses.includes(400) && ours.statuses.some((status) => status >= 400)

async function compared(all: readonly string[]) {
  const wrong: string[] = []
  let agreed = 0
  let stricter = 0
  for (const bytes of all) {
    const [ours, ...others] = (await became(bytes)) as [Became, ...Became[]]
    for (const [at, theirs] of others.entries()) {
      const name = judges[at]?.name
      const lacking = missing(ours.reached, theirs.reached)
      if (lacking.length === 0) agreed += ours.reached.length
      else if (!endedBefore(ours, theirs) && !(name === 'nginx' && twice.test(bytes))) {
        wrong.push(
          `${name} has ${theirs.reached.map(meant).join(' ')}, not ${lacking.join(' ')}: ${JSON.stringify(bytes)}`,
        )
      }
      if (theirs.reached.length > ours.reached.length) stricter += 1
    }
  }
  return { wrong, agreed, stricter }
}

test(`whatever is sent, by seed ${seed}: nothing is forwarded that the others refuse, or take for something else`, async () => {
  const { wrong, agreed, stricter } = await compared(fc.sample(whole, { seed, numRuns }))
  expect(wrong).toEqual([])
  expect(agreed).toBeGreaterThan(numRuns / 10)
  expect(stricter).toBeGreaterThan(0)
})

test('of the corpus too', async () => {
  const rows = corpusRows().filter(({ slow, raw_b64 }) => !slow && raw_b64.length < 40_000)
  const { wrong, agreed } = await compared(rows.map(({ raw_b64 }) => Buffer.from(raw_b64, 'base64').toString('latin1')))
  expect(wrong).toEqual([])
  expect(agreed).toBeGreaterThan(50)
})
