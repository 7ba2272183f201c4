// The work of runs, as the resolution role is given it: phases in threads, and what they leave in a folder for each run.
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { refuse } from '../../kernel/errors.ts'
import type { Resolved } from '../../kernel/settings.ts'
import type { Progress } from '../../roles/resolution/fusion-run/model.ts'
import type { FoundCluster, FoundMatch, RunWork } from '../../roles/resolution/parts.ts'
import { settings } from '../../roles/resolution/settings.ts'
import { faultStop } from '../fault-stop.ts'
import { valuesOf } from '../profile.ts'
import type { SiteFolder } from '../site-folder.ts'
import { DataFileFault, openDataFile } from './data-folder.ts'
import { syncFolder } from './durable-file.ts'
import { readFound } from './found-files.ts'
import { csvOf } from './node-csv.ts'
import type { Answer, ThreadJob, Told } from './phases.ts'
import { runFiles, runsFolder } from './run-folder.ts'
import { limitsOf, resolutionThreads } from './run-threads.ts'

/** `monotonic`: milliseconds of a clock that never jumps. */
export function runWorkIn(folder: SiteFolder, resolved: Resolved, monotonic: () => number): RunWork {
  const { data_folder, max_records, max_matches } = valuesOf(resolved, settings)
  const runs = runsFolder(folder)
  const folderOf = (run: string) => join(runs, run)
  const compute = resolutionThreads()
  const watched = new Map<string, Pace>()
  const working = new Map<string, Promise<unknown>>()
  const keeping = new Set<string>()
  const told = (run: string, progress: Told) => {
    const before = watched.get(run)
    const isSame = before?.progress.phase === progress.phase && before.progress.step === progress.step
    watched.set(run, { progress, since: isSame ? before.since : monotonic() })
  }
  const limits = limitsOf(resolved)

  return {
    async unreadable(tenant_id, files) {
      return new Map(files.flatMap((file) => whyNot(data_folder, tenant_id, file) ?? []))
    },
    inTurn: turns(),
    async keep(run, nodes) {
      keeping.add(run)
      const release = () => void keeping.delete(run)
      try {
        await keepNodes(runs, folderOf(run), nodes)
        faultStop?.('run-kept')
        return { release }
      } catch (error) {
        release()
        throw error
      }
    },
    async perform(job, signal) {
      mkdirSync(folderOf(job.run), { recursive: true, mode: 0o700 })
      const input: ThreadJob = { ...job, folder: folderOf(job.run), data_folder, max_records, max_matches }
      told(job.run, { phase: job.phase, step: 'begin', done: 0, total: 0 })
      const work = compute.run({ ...limits, input, signal, tell: (progress) => told(job.run, progress as Told) })
      working.set(job.run, work)
      try {
        const answer = (await work) as Answer
        faultStop?.(left[job.phase])
        return 'found' in answer ? answer.found : refuse('invalid', answer.fault)
      } finally {
        working.delete(job.run)
      }
    },
    matches: (run) => readFound<FoundMatch>(runFiles.matches(folderOf(run))),
    async *clusters(run) {
      faultStop?.('run-publishing')
      yield* readFound<FoundCluster>(runFiles.clusters(folderOf(run)))
    },
    progress(run) {
      const pace = watched.get(run)
      return pace && { ...pace.progress, ...etaOf(pace, monotonic()) }
    },
    told,
    async drop(run) {
      await working.get(run)?.catch(() => undefined)
      watched.delete(run)
      rmSync(folderOf(run), { recursive: true, force: true })
    },
    async kept() {
      if (!existsSync(runs)) return []
      return readdirSync(runs).filter((run) => !keeping.has(run))
    },
  }
}

/** Of each tenant, what was given last: the next waits for it. */
function turns(): RunWork['inTurn'] {
  const last = new Map<string, Promise<unknown>>()
  return (tenant_id, work) => {
    const mine = (last.get(tenant_id) ?? Promise.resolve()).then(work)
    const over = mine
      .catch(() => undefined)
      .then(() => {
        if (last.get(tenant_id) === over) last.delete(tenant_id)
      })
    last.set(tenant_id, over)
    return mine
  }
}

/** What a death after each phase leaves. */
const left = { extract: 'run-extracted', match: 'run-matched', resolve: 'run-resolved' } as const

type Pace = { readonly progress: Told; readonly since: number }

function etaOf({ progress: { done, total }, since }: Pace, now: number): Pick<Progress, 'eta_s'> {
  if (done === 0 || total === 0) return {}
  return { eta_s: Math.round((((now - since) / done) * (total - done)) / 1_000) }
}

function whyNot(data_folder: string | undefined, tenant_id: string, file: string): [[string, string]] | undefined {
  try {
    openDataFile(data_folder, tenant_id, file).close()
    return undefined
  } catch (error) {
    if (error instanceof DataFileFault) return [[file, error.message]]
    throw error
  }
}

async function keepNodes(runs: string, folder: string, nodes: Parameters<RunWork['keep']>[1]): Promise<void> {
  mkdirSync(runs, { recursive: true, mode: 0o700 })
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw refuse('conflict', 'the same request is being taken just now')
  }
  for (const [place, records] of nodes) {
    await writeFile(runFiles.inline(folder, place), csvOf(records), { mode: 0o600, flush: true })
  }
  syncFolder(folder)
  syncFolder(runs)
}
