// One side of a private set intersection in a thread of its own: takes the other side's messages, says its own.
import { parentPort, workerData } from 'node:worker_threads'
import { curve25519Blinding } from '../../../adapters/blinding/curve25519/blinding.ts'
import { performBlinding } from '../../../adapters/blinding/curve25519/perform-blinding.ts'
import { findPointSetFault, sortPoints } from '../../../daemon/roles/resolution/privacy/psi/points.ts'
import { computeTagBytes, intersectTags } from '../../../daemon/roles/resolution/privacy/psi/tags.ts'

export type PsiPartyOptions = {
  readonly from: number
  readonly count: number
  readonly seed: number
  readonly learns: boolean
}
export type PsiMessage =
  | { readonly points: Uint8Array }
  | { readonly tags: Uint8Array }
  | { readonly found: number; readonly isRight: boolean }

const { from, count, seed, learns } = workerData as PsiPartyOptions
const blinding = curve25519Blinding(async (work) => performBlinding(work), 1)
const { signal } = new AbortController()
const secret = new Uint8Array(32).fill(seed)
const values = Array.from({ length: count }, (_, at) => `user-${from + at}@example.org`)
const width = computeTagBytes(count, count)
const postToPeer = (message: PsiMessage) => parentPort?.postMessage(message)

const ownBlindedValues = sortPoints(await blinding.blindValues('bench', values, secret, signal), 32)
let ownDoubleBlinded: Uint8Array | undefined
let peerDoubleBlinded: Uint8Array | undefined

parentPort?.on('message', async (heard: PsiMessage) => {
  if ('points' in heard) {
    const objection = findPointSetFault(heard.points, count)
    const tags = objection ? undefined : await blinding.tagPoints('bench', heard.points, secret, width, signal)
    if (!tags) throw new Error(objection ?? 'a point is none')
    if (learns) peerDoubleBlinded = tags
    else postToPeer({ tags })
  }
  if ('tags' in heard) ownDoubleBlinded = heard.tags
  if (!ownDoubleBlinded || !peerDoubleBlinded) return
  const met = intersectTags(ownDoubleBlinded, peerDoubleBlinded, width).left
  const half = from + count / 2
  const isRight = met.every((place) => from + (ownBlindedValues.order[place] ?? 0) >= half)
  postToPeer({ found: met.length, isRight })
})
postToPeer({ points: ownBlindedValues.sorted })
