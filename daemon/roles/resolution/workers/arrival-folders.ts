// Takes the files of the folders of the profile, one at a time in each folder, and registers their records.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { observedDependenciesPart } from '../../../kernel/role/observed-dependencies.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { type FolderCall, failFile, registerFile } from '../arrival-file/register-file.ts'
import { type ArrivalFolder, folderDependency } from '../arrival-folder/folder-setting.ts'
import { openFolder } from '../arrival-folder/folder-terms.ts'
import { refuseUnmatchable } from '../arrival-folder/refuse-unmatchable.ts'
import {
  type FolderScan,
  type FolderStatus,
  type WatchedFolder,
  watchedFoldersPart,
} from '../arrival-folder/watched-folder.ts'
import { arrivalWaiting } from '../metrics.ts'
import { settings } from '../settings.ts'

/**
 * A watcher misses changes of network file systems. A folder that is held up waits so long for a look while another is busy;
 * otherwise the end of a run wakes the worker.
 */
const rescan_ms = 10_000
const worker_name = 'arrival-folders'
/** At a file whose work fails for an unknown reason, one in each look at its folder. */
const max_attempts = 3
const failing_reason = `the work on this file failed ${max_attempts} times for a reason that the log of the service has; drop the file again once that is repaired`

export const arrivalFoldersWorker: Worker = { name: worker_name, when: { every_ms: rescan_ms }, run }

/** Folders do not wait for one another: one whose records wait for a run holds up no other. */
async function run(call: Call): Promise<void> {
  const { arrival_folders } = call.settings(settings)
  if (arrival_folders.length === 0) return
  const { folders, watch } = call.part(watchedFoldersPart)
  watch(() => call.wake(worker_name))
  const active = new Map<string, Promise<void>>()
  do {
    for (const folder of arrival_folders) {
      const watched = folders.get(folder.name)
      if (!watched || active.has(folder.name)) continue
      const work = takeFiles(call, folder, watched).finally(() => active.delete(folder.name))
      active.set(folder.name, work)
    }
    await Promise.race([Promise.all(active.values()), call.wait(rescan_ms, call.signal)])
  } while (active.size > 0 && !call.signal.aborted)
  await Promise.all(active.values())
}

/** Registers every file of the folder. Notes what holds it up, which the next look tries again. */
async function takeFiles(call: Call, folder: ArrivalFolder, watched: WatchedFolder): Promise<void> {
  const began = call.monotonic()
  let refusal: Refusal | undefined
  try {
    refusal = await registerFiles(call, folder, watched)
  } catch (error) {
    if (call.signal.aborted) return
    refusal = isRefusal(error) ? error : refuse('internal', 'the work on this folder failed; the log has the reason')
    if (!isRefusal(error)) logFailure(call, folder, error)
  }
  const latency_ms = call.monotonic() - began
  const detail = refusal?.message ?? 'files are taken'
  const name = folderDependency(folder.name)
  call.part(observedDependenciesPart).observe(name, { ok: !refusal, detail, latency_ms, at: call.now() })
  if (refusal?.message !== statusOf(call, folder).held_up && refusal)
    call.log.warn('resolution.arrival-folder.held_up', {
      ...{ trace_id: call.trace.trace_id, folder: folder.name, code: refusal.code, error: refusal.message },
    })
  setStatus(call, folder, { held_up: refusal?.message, reading: undefined })
}

/** Each claim is tried once in a look: one whose work fails for an unknown reason holds up no other. */
async function registerFiles(call: Call, folder: ArrivalFolder, watched: WatchedFolder): Promise<Refusal | undefined> {
  const failing = new Set<string>()
  while (!call.signal.aborted) {
    const scan = await watched.scan()
    const status = { scan, taken: 0, scanned_at: call.nowIso(), attempts: keepAttempts(call, folder, scan.claims) }
    setStatus(call, folder, status)
    call.set(arrivalWaiting, { folder: folder.name }, scan.waiting.length)
    if (scan.waiting.length === 0 && scan.claims.every((claim) => failing.has(claim))) break
    const refusal = await takeScanned(call, folder, watched, { scan, failing })
    if (refusal) return refusal
  }
  return describeFailing(failing.size)
}

/**
 * Takes what a scan found, in its order. It ends early after a while, since new files may come before those: so the work of scans
 * follows from the files and the time, and not from the product of taken and waiting ones.
 */
async function takeScanned(
  call: Call,
  folder: ArrivalFolder,
  watched: WatchedFolder,
  { scan, failing }: { readonly scan: FolderScan; readonly failing: Set<string> },
): Promise<Refusal | undefined> {
  const until = call.monotonic() + rescan_ms
  const claims = scan.claims.filter((claim) => !failing.has(claim))
  for (const [at, next] of [...claims, ...scan.waiting].entries()) {
    if (call.signal.aborted || call.monotonic() >= until) return undefined
    const context = await openFolderCall(call, folder, watched)
    if (isRefusal(context)) return context
    const taken = at - claims.length + 1
    const claim = taken > 0 ? await watched.claim(next) : next
    if (taken > 0) {
      setStatus(call, folder, { taken })
      call.set(arrivalWaiting, { folder: folder.name }, scan.waiting.length - taken)
    }
    if (claim !== undefined && !(await tryClaim(context, call, claim))) failing.add(claim)
  }
  return undefined
}

function describeFailing(count: number): Refusal | undefined {
  if (count === 0) return undefined
  return refuse('internal', `the work on ${count} of the files failed and is tried again; the log has the reason`)
}

/** Returns false where the work failed for an unknown reason. After a few such attempts the file is failed. Throws refusals. */
async function tryClaim(context: FolderCall, call: Call, claim: string): Promise<boolean> {
  const { folder } = context
  const { attempts } = statusOf(call, folder)
  const before = attempts?.get(claim) ?? 0
  setStatus(call, folder, { reading: claim })
  try {
    if (before < max_attempts) await registerFile(context, claim)
    else await failFile(context, claim, refuse('internal', failing_reason))
    return true
  } catch (error) {
    if (isRefusal(error) || call.signal.aborted) throw error
    logFailure(call, folder, error)
    setStatus(call, folder, { attempts: new Map(attempts).set(claim, before + 1) })
    return false
  } finally {
    setStatus(call, folder, { reading: undefined })
  }
}

/** Without those of claims that are gone. */
function keepAttempts(call: Call, folder: ArrivalFolder, claims: readonly string[]): FolderStatus['attempts'] {
  const { attempts = new Map<string, number>() } = statusOf(call, folder)
  return new Map([...attempts].filter(([claim]) => claims.includes(claim)))
}

/** Refuses a folder whose records nothing can be matched with now, before a file is taken. */
async function openFolderCall(
  call: Call,
  folder: ArrivalFolder,
  watched: WatchedFolder,
): Promise<FolderCall | Refusal> {
  const opened = await openFolder(call, folder)
  if (isRefusal(opened)) return opened
  return (await refuseUnmatchable(call, opened.target)) ?? { service: call, folder, watched, ...opened }
}

function statusOf(call: Call, { name }: ArrivalFolder): FolderStatus {
  return call.part(watchedFoldersPart).statuses.get(name) ?? {}
}

function setStatus(call: Call, folder: ArrivalFolder, status: Partial<FolderStatus>): void {
  call.part(watchedFoldersPart).statuses.set(folder.name, { ...statusOf(call, folder), ...status })
}

function logFailure(call: Call, { name }: ArrivalFolder, error: unknown): void {
  const { trace_id } = call.trace
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  call.log.error('resolution.arrival-folder.failed', { trace_id, folder: name, error: text })
}
