// Provides blinding to the resolution role, in as many threads as the machine has cores.
import { availableParallelism } from 'node:os'
import { curve25519Blinding } from '../../../../adapters/blinding/curve25519/blinding.ts'
import { threads } from '../../../../adapters/compute/threads/threads.ts'
import { findThreadScript } from '../../../boot/host/thread-script.ts'
import type { Blinding } from '../../../kernel/cryptography/blinding.ts'
import type { ResolvedSettings } from '../../../kernel/settings/settings.ts'
import { readComputeLimits } from '../run-threads.ts'

/** More threads help no set that an agreement allows. */
const max_threads = 8

export function threadedBlinding(resolved: ResolvedSettings): Blinding {
  const limits = readComputeLimits(resolved)
  const compute = threads(() =>
    findThreadScript('blinding-thread.cjs', new URL('./blinding-thread.ts', import.meta.url)),
  )
  const perform = async (input: unknown, signal: AbortSignal) =>
    (await compute.run({ ...limits, input, signal, report: () => undefined })) as Uint8Array | undefined
  return curve25519Blinding(perform, Math.min(max_threads, availableParallelism()))
}
