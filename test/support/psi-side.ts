// One side of a private set intersection in a thread of its own: takes the other side's messages, says its own.
import { parentPort, workerData } from 'node:worker_threads'
import { curve25519Blinding } from '../../adapters/blinding/curve25519/blinding.ts'
import { performBlinding } from '../../adapters/blinding/curve25519/work.ts'
import { ascending, objectionTo } from '../../daemon/roles/resolution/privacy/psi/points.ts'
import { meeting, tagBytes } from '../../daemon/roles/resolution/privacy/psi/tags.ts'

export type Side = { readonly from: number; readonly count: number; readonly seed: number; readonly learns: boolean }
export type Said =
  | { readonly points: Uint8Array }
  | { readonly tags: Uint8Array }
  | { readonly found: number; readonly isRight: boolean }

const { from, count, seed, learns } = workerData as Side
const blinding = curve25519Blinding(async (work) => performBlinding(work), 1)
const { signal } = new AbortController()
const secret = new Uint8Array(32).fill(seed)
const values = Array.from({ length: count }, (_, at) => `user-${from + at}@example.org`)
const width = tagBytes(count, count)
const say = (said: Said) => parentPort?.postMessage(said)

const mine = ascending(await blinding.blindValues('bench', values, secret, signal), 32)
let ours: Uint8Array | undefined
let theirs: Uint8Array | undefined

parentPort?.on('message', async (heard: Said) => {
  if ('points' in heard) {
    const objection = objectionTo(heard.points, count)
    const tags = objection ? undefined : await blinding.tagPoints('bench', heard.points, secret, width, signal)
    if (!tags) throw new Error(objection ?? 'a point is none')
    if (learns) theirs = tags
    else say({ tags })
  }
  if ('tags' in heard) ours = heard.tags
  if (!ours || !theirs) return
  const met = meeting(ours, theirs, width).ours
  const half = from + count / 2
  const isRight = met.every((place) => from + (mine.order[place] ?? 0) >= half)
  say({ found: met.length, isRight })
})
say({ points: mine.sorted })
