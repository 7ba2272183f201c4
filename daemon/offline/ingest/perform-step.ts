// Performs one task of an assembled DAG on a worker, by the code of the embedded scheduler.

import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { datasets_folder, safeFolderName } from '../../../adapters/platform/data-file/datasets-folder.ts'
import { parseTrustedNetwork } from '../../kernel/network/special-addresses.ts'
import { catalogVersion } from '../../roles/ingest/operator/catalog-version.ts'
import type { StepResult } from '../../roles/ingest/partial-run/model.ts'
import { describeResult } from '../../roles/ingest/partial-run/step-result.ts'
import type { TaskOutcome } from '../../roles/ingest/parts.ts'
import { makeFolder } from '../../runtime/ingest/handover/shared-folder.ts'
import { default_outputs_folder } from '../../runtime/ingest/open-task-performer.ts'
import { performTry } from '../../runtime/ingest/perform-try.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { requestSite } from './request-site.ts'
import { parseStep, type Step } from './step-document.ts'

/** In the folder of datasets, so on the same disk. No tenant has a folder of this name. */
const drafts_folder = '.drafts'

export type StepOptions = {
  /** JSON; see `parseStep`. */
  readonly document: string
  /** Holds the datasets of runs; every worker has the same one. */
  readonly folder: string
  readonly dataFolder: string | undefined
  readonly outputFolder: string | undefined
  readonly trustedNetworks: readonly string[]
  readonly memory_mb: number
  /** Besides that of the task. */
  readonly limit_s: number | undefined
  readonly signal: AbortSignal
}

/** Throws `OfflineCommandError`: 1 for a folder that cannot be written, 2 for a document that is none. Rejects with the reason of the signal. */
export async function performStep(
  { document, folder, dataFolder, outputFolder, trustedNetworks, memory_mb, limit_s, signal }: StepOptions,
  onProgress: (progress: unknown) => void,
): Promise<StepResult> {
  const step = parseStep(document)
  for (const network of trustedNetworks)
    if (parseTrustedNetwork(network) === undefined)
      throw new OfflineCommandError(
        2,
        `--trusted-networks: ${network} is not a network`,
        'name networks such as 10.1.2.0/24, of 8 bits or more, or addresses',
      )
  const task = { ...step.task, time_limit_s: Math.min(step.task.time_limit_s, limit_s ?? step.task.time_limit_s) }
  if (step.site) return await requestSite(step, step.site, { folder: resolve(folder), signal })
  const run = safeFolderName(step.run)
  const datasets = resolve(folder, datasets_folder)
  const drafts = openDrafts(datasets, `${step.tenant_id}/${run}/${task.name}`)
  const addonDir = mkdtempSync(join(tmpdir(), 'platform-step-'))
  try {
    const outcome = await performTry(
      { ...step, run, task },
      {
        sources: { data_folder: dataFolder && resolve(dataFolder), trusted_networks: trustedNetworks, addonDir },
        outputs: resolve(outputFolder ?? join(folder, default_outputs_folder)),
        ...{ datasets, drafts, max_memory_mb: memory_mb, signal, report: onProgress },
      },
    )
    return describeOutcome(step, outcome)
  } finally {
    rmSync(addonDir, { recursive: true, force: true })
  }
}

/**
 * A name for a new folder of this try. A try before whose process was killed may have left one, which is removed: if that
 * process is still alive, its try fails, and what lands is the same.
 */
function openDrafts(datasets: string, of: string): string {
  const all = join(datasets, drafts_folder)
  const prefix = `${createHash('sha256').update(of).digest('hex').slice(0, 32)}-`
  try {
    makeFolder(dirname(datasets), all)
    chmodSync(all, 0o700)
    for (const name of readdirSync(all))
      if (name.startsWith(prefix)) rmSync(join(all, name), { recursive: true, force: true })
  } catch (error) {
    const { code = 'it cannot be opened' } = error as NodeJS.ErrnoException
    throw new OfflineCommandError(
      1,
      `--folder: ${datasets} cannot be written: ${code}`,
      'name a folder that this user may write',
    )
  }
  return join(all, `${prefix}${randomBytes(8).toString('hex')}`)
}

function describeOutcome({ task: { name } }: Step, outcome: TaskOutcome): StepResult {
  const { log } = outcome
  if (!('failure' in outcome))
    return describeResult(name, { log, made: { ...outcome, catalog_version: catalogVersion() } })
  const { reason, isFinal: is_final } = outcome.failure
  return describeResult(name, { log, failure: { reason, is_final } })
}
