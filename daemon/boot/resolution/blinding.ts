// Blinding as the resolution role is given it: in threads, as many as the machine has cores for.
import { availableParallelism } from 'node:os'
import { curve25519Blinding } from '../../../adapters/blinding/curve25519/blinding.ts'
import { threads } from '../../../adapters/compute/threads/threads.ts'
import type { Blinding } from '../../kernel/blinding.ts'
import type { Resolved } from '../../kernel/settings.ts'
import { threadScript } from '../thread-script.ts'
import { limitsOf } from './run-threads.ts'

/** More than this at a time are of use to no set that an agreement allows. */
const most_threads = 8

export function blindingIn(resolved: Resolved): Blinding {
  const limits = limitsOf(resolved)
  const compute = threads(() => threadScript('blinding-thread.cjs', new URL('./blinding-thread.ts', import.meta.url)))
  const perform = async (input: unknown, signal: AbortSignal) =>
    (await compute.run({ ...limits, input, signal, tell: () => undefined })) as Uint8Array | undefined
  return curve25519Blinding(perform, Math.min(most_threads, availableParallelism()))
}
