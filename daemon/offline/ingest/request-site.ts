// Hands a task to the site, on a worker of another scheduler, and waits for the result.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseJsonAs } from '../../kernel/encoding/parse-json.ts'
import { type SiteTaskRequest, type StepResult, stepResult } from '../../roles/ingest/partial-run/model.ts'
import {
  handoverFileName,
  max_result_bytes,
  requestsFolder,
  resultsFolder,
  writeHandover,
} from '../../runtime/ingest/handover/handover-folder.ts'
import { readUntrustedFile, UntrustedFileError } from '../../runtime/ingest/handover/untrusted-file.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import type { Step, StepSite } from './step-document.ts'

const look_ms = 500

/**
 * Waits as long as it takes: the site may be down for a while. Rejects with the reason of the signal, once the request is withdrawn.
 * Throws `OfflineCommandError` (1) for a folder that cannot be used.
 */
export async function requestSite(
  { pipeline, run, task: { name: task }, inputs }: Step,
  { name: site, ...of }: StepSite,
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal },
): Promise<StepResult> {
  const named = inputs.map(({ inputs: _inputs, checks: _checks, ...dataset }) => dataset)
  const request: SiteTaskRequest = { format: 1, pipeline, run, task, inputs: named, ...of }
  const requests = requestsFolder(folder, site)
  const name = handoverFileName(request)
  try {
    await writeHandover(requests, name, request)
    const result = join(resultsFolder(folder, site).path, name)
    for (;;) {
      const bytes = await readResult(result)
      if (bytes) return parseResult(bytes, task)
      await setTimeout(look_ms, undefined, { signal })
    }
  } catch (error) {
    signal.throwIfAborted()
    throw describeFault(error)
  } finally {
    await rm(join(requests.path, name), { force: true })
  }
}

/** Undefined while there is none. */
async function readResult(file: string): Promise<Buffer | undefined> {
  try {
    return await readUntrustedFile(file, max_result_bytes)
  } catch (error) {
    if (error instanceof UntrustedFileError && error.isAbsent) return undefined
    throw error
  }
}

function parseResult(bytes: Buffer, task: string): StepResult {
  const result = parseJsonAs(stepResult, bytes)
  if (result?.task !== task) throw new UntrustedFileError('it is not the result of the task')
  return result
}

/** Without paths: the log of the task shows it. */
function describeFault(error: unknown): unknown {
  if (error instanceof UntrustedFileError)
    return new OfflineCommandError(1, `the result of the site cannot be read: ${error.message}`, next_step)
  const { code, syscall } = error as NodeJS.ErrnoException
  if (syscall === undefined) return error
  return new OfflineCommandError(1, `the task cannot be handed to the site: ${code}`, next_step)
}

const next_step = 'the user of the worker and the one of the site share --folder by its group: see docs/airflow.md'
