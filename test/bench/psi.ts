// Measures private set intersection with both sides on this machine, a core each, beside a peer in the same run.
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import { computeMedian, type Figure } from '../support/bench/figure.ts'
import type { PsiMessage, PsiPartyOptions } from '../support/resolution/psi-party.ts'

const sizes = [10_000, 100_000]
const rounds = 3

/** PSI_PEER names a command that takes a size and prints a JSON line with `wall_s` and `total_bytes`; no peer without it. */
export async function bench(report: (figure: Figure) => void): Promise<void> {
  for (const size of sizes) {
    const seconds: number[] = []
    const peers: number[] = []
    let [bytes, peerBytes] = [0, Number.NaN]
    for (let round = 0; round < rounds; round++) {
      const run = await measureIntersection(size)
      seconds.push(run.seconds)
      bytes = run.bytes
      const peer = runPeer(size)
      if (peer) peers.push(peer.wall_s)
      if (peer) peerBytes = peer.total_bytes
    }
    const item_us = (computeMedian(seconds) / size) * 1e6
    if (peers.length === 0) {
      report({ figure: `${size} time an item`, value: item_us, unit: 'us' })
      report({ figure: `${size} bytes`, value: bytes, unit: 'B' })
      continue
    }
    const peer_us = (computeMedian(peers) / size) * 1e6
    report({
      figure: `${size} time an item`,
      value: item_us,
      unit: 'us',
      beside: Math.round(peer_us),
      atMost: Math.round(peer_us),
    })
    report({ figure: `${size} bytes`, value: bytes, unit: 'B', beside: peerBytes, atMost: peerBytes })
  }
}

/** Two threads that do what two sites would; half of the values are shared. Seconds from values to the intersection. */
async function measureIntersection(count: number): Promise<{ readonly seconds: number; readonly bytes: number }> {
  const one = startParty({ from: 0, count, seed: 1, learns: true })
  const other = startParty({ from: count / 2, count, seed: 2, learns: false })
  const started = performance.now()
  let bytes = 0
  const carry = (message: PsiMessage, to: Worker) => {
    for (const data of Object.values(message)) if (data instanceof Uint8Array) bytes += data.length
    to.postMessage(message)
  }
  other.on('message', (message: PsiMessage) => carry(message, one))
  const end = await new Promise<PsiMessage>((resolve, reject) => {
    for (const side of [one, other]) side.on('error', reject)
    one.on('message', (message: PsiMessage) => ('found' in message ? resolve(message) : carry(message, other)))
  })
  const seconds = (performance.now() - started) / 1_000
  await Promise.all([one.terminate(), other.terminate()])
  if (!('found' in end) || end.found !== count / 2 || !end.isRight) throw new Error('the intersection is wrong')
  return { seconds, bytes }
}

function startParty(workerData: PsiPartyOptions): Worker {
  return new Worker(path.resolve(import.meta.dirname, '../support/resolution/psi-party.ts'), { workerData })
}

function runPeer(size: number): { readonly wall_s: number; readonly total_bytes: number } | undefined {
  const [command, ...words] = (process.env.PSI_PEER ?? '').split(' ').filter(Boolean)
  if (command === undefined) return undefined
  return JSON.parse(execFileSync(command, [...words, String(size)], { encoding: 'utf8' }))
}
