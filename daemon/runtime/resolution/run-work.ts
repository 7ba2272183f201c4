// Provides the work of runs to the resolution role: phases in threads, and a folder of results for each run.
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openTenantDataFile, TenantDataFileError } from '../../../adapters/platform/data-file/tenant-data-file.ts'
import { syncFolder } from '../../../adapters/platform/durable-file/sync-folder.ts'
import { faultStop } from '../../boot/host/fault-stop.ts'
import type { WireContext } from '../../boot/role-wire.ts'
import { findDatasets } from '../../boot/storage/landed-datasets.ts'
import { refuse } from '../../kernel/error/errors.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { RunCluster, RunMatch } from '../../roles/resolution/engine/findings.ts'
import type { RunProgress } from '../../roles/resolution/fusion-run/model.ts'
import type { RunWork } from '../../roles/resolution/parts.ts'
import { settings } from '../../roles/resolution/settings.ts'
import { readJsonLinesFile } from './files/json-lines-file.ts'
import { formatNodeCsv } from './files/node-csv.ts'
import { runFiles, runsFolder } from './files/run-folder.ts'
import { queueByTenant } from './queue-by-tenant.ts'
import type { PhaseProgress, PhaseThreadJob, PhaseThreadResult } from './run-phase.ts'
import { readComputeLimits, resolutionThreads } from './run-threads.ts'

export function openRunWork({
  folder,
  resolved,
  clock: { monotonic },
}: Pick<WireContext['resources'], 'folder' | 'resolved' | 'clock'>): RunWork {
  const { data_folder, max_records, max_matches } = getSettings(resolved, settings)
  const runs = runsFolder(folder)
  const { datasets } = findDatasets(folder, resolved)
  const folderOf = (run: string) => join(runs, run)
  const compute = resolutionThreads()
  const paces = new Map<string, PhasePace>()
  const activeWork = new Map<string, Promise<unknown>>()
  const protectedRuns = new Set<string>()
  const reportProgress = (run: string, progress: PhaseProgress) => {
    const previous = paces.get(run)
    const isSame = previous?.progress.phase === progress.phase && previous.progress.step === progress.step
    paces.set(run, { progress, since: isSame ? previous.since : monotonic() })
  }
  const limits = readComputeLimits(resolved)

  return {
    async findUnreadable(tenant_id, files) {
      return new Map(files.flatMap((file) => findDataFileFault(data_folder, tenant_id, file) ?? []))
    },
    runInTurn: queueByTenant(),
    async storeRecords(run, nodes) {
      protectedRuns.add(run)
      const release = () => void protectedRuns.delete(run)
      try {
        await storeNodeRecords(runs, folderOf(run), nodes)
        faultStop?.('run-kept')
        return { release }
      } catch (error) {
        release()
        throw error
      }
    },
    async perform(job, signal) {
      mkdirSync(folderOf(job.run), { recursive: true, mode: 0o700 })
      const input: PhaseThreadJob = {
        ...job,
        folder: folderOf(job.run),
        data_folder,
        datasets,
        max_records,
        max_matches,
      }
      reportProgress(job.run, { phase: job.phase, step: 'begin', done: 0, total: 0 })
      const work = compute.run({
        ...limits,
        input,
        signal,
        report: (progress) => reportProgress(job.run, progress as PhaseProgress),
      })
      activeWork.set(job.run, work)
      try {
        const result = (await work) as PhaseThreadResult
        faultStop?.(faultPointsByPhase[job.phase])
        return 'found' in result ? result.found : refuse('invalid', result.fault)
      } finally {
        activeWork.delete(job.run)
      }
    },
    matches: (run) => readJsonLinesFile<RunMatch>(runFiles.matches(folderOf(run))),
    async *clusters(run) {
      faultStop?.('run-publishing')
      yield* readJsonLinesFile<RunCluster>(runFiles.clusters(folderOf(run)))
    },
    progress(run) {
      const pace = paces.get(run)
      return pace && { ...pace.progress, ...estimateRemaining(pace, monotonic()) }
    },
    reportProgress,
    async drop(run) {
      await activeWork.get(run)?.catch(() => undefined)
      paces.delete(run)
      rmSync(folderOf(run), { recursive: true, force: true })
    },
    async listStoredRuns() {
      if (!existsSync(runs)) return []
      return readdirSync(runs).filter((run) => !protectedRuns.has(run))
    },
  }
}

/** Fault points: the process ends after a phase. */
const faultPointsByPhase = { extract: 'run-extracted', match: 'run-matched', resolve: 'run-resolved' } as const

type PhasePace = { readonly progress: PhaseProgress; readonly since: number }

function estimateRemaining({ progress: { done, total }, since }: PhasePace, now: number): Pick<RunProgress, 'eta_s'> {
  if (done === 0 || total === 0) return {}
  return { eta_s: Math.round((((now - since) / done) * (total - done)) / 1_000) }
}

function findDataFileFault(
  data_folder: string | undefined,
  tenant_id: string,
  file: string,
): [[string, string]] | undefined {
  try {
    openTenantDataFile(data_folder, tenant_id, file).close()
    return undefined
  } catch (error) {
    if (error instanceof TenantDataFileError) return [[file, error.message]]
    throw error
  }
}

async function storeNodeRecords(
  runs: string,
  folder: string,
  nodes: Parameters<RunWork['storeRecords']>[1],
): Promise<void> {
  mkdirSync(runs, { recursive: true, mode: 0o700 })
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw refuse('conflict', 'the same request is already in progress; retry')
  }
  for (const [index, records] of nodes) {
    await writeFile(runFiles.inline(folder, index), formatNodeCsv(records), { mode: 0o600, flush: true })
  }
  syncFolder(folder)
  syncFolder(runs)
}
