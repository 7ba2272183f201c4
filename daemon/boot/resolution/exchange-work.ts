// What exchanges compute, as the resolution role is given it: in threads, within the limits of a run, told of as that is.
import { join } from 'node:path'
import { refuse } from '../../kernel/errors.ts'
import type { Resolved } from '../../kernel/settings.ts'
import type { Deed, Deeds, ExchangeWork } from '../../roles/resolution/exchange/deeds.ts'
import { runOf } from '../../roles/resolution/exchange/model.ts'
import type { RunWork } from '../../roles/resolution/parts.ts'
import { settings } from '../../roles/resolution/settings.ts'
import { valuesOf } from '../profile.ts'
import type { SiteFolder } from '../site-folder.ts'
import { carryOutDeed, type DeedAnswer, type DeedJob } from './exchange-deeds.ts'
import type { Told } from './phases.ts'
import { runsFolder } from './run-folder.ts'
import { limitsOf, resolutionThreads } from './run-threads.ts'
import { turns } from './turns.ts'

/** `runs`: is told how far the run of an exchange is. */
export function exchangeWorkIn(folder: SiteFolder, resolved: Resolved, runs: Pick<RunWork, 'told'>): ExchangeWork {
  const { data_folder, exchanges_at_once } = valuesOf(resolved, settings)
  const limits = limitsOf(resolved)
  const compute = resolutionThreads()
  // Whoever brings records at the same time as many others waits: each may take all the memory of a run.
  const reading = turns(exchanges_at_once)
  return {
    async perform<D extends Deed>(exchange_id: string, deed: D, given: Deeds[D][0], signal: AbortSignal) {
      const job: DeedJob = { deed, given, folder: join(runsFolder(folder), runOf(exchange_id)), data_folder }
      const tell = (progress: unknown) => runs.told(runOf(exchange_id), progress as Told)
      const work = () => (isShort(job) ? carryOutDeed(job, tell) : compute.run({ ...limits, input: job, signal, tell }))
      const answer = (await (deed === 'own' ? reading(work, signal) : work())) as DeedAnswer
      return 'done' in answer ? (answer.done as Deeds[D][1]) : refuse(answer.refused.code, answer.refused.message)
    },
  }
}

/** Sorting and comparing this much takes milliseconds, and a thread takes a tenth of a second to start. */
const short_bytes = 65_536
const quick: readonly Deed[] = ['sort', 'check', 'meet']

function isShort({ deed, given }: DeedJob): boolean {
  const sets = Object.values(given as object).filter((value) => value instanceof Uint8Array)
  return quick.includes(deed) && sets.every((set) => set.length <= short_bytes)
}
