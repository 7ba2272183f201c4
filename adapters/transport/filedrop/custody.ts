// What people decide about the bytes that lie here: what is let out of quarantine, and what must not stay at all.
import type { Custody } from '../../../daemon/kernel/custody.ts'
import { refuse } from '../../../daemon/kernel/errors.ts'
import { purging } from './quarantine/purging.ts'
import { enterRelease } from './quarantine/releasing.ts'
import type { RunningLine } from './running-line.ts'
import type { Surroundings } from './surroundings.ts'

/** `lines`: of every pinned peer. */
export function custody(around: Surroundings, lines: () => Promise<readonly RunningLine[]>): Custody {
  const { purge } = purging(around, lines)
  return {
    purge,
    async release(peer, terms, audit) {
      const running = (await lines()).find(({ line }) => line.peer === peer)
      if (!running) return refuse('not_found', `there is no peer ${peer}`)
      const refused = await enterRelease(running.line, around, terms, audit)
      if (!refused) running.trigger()
      return refused
    },
  }
}
