// Tasks that workers of Airflow hand to the site, by files in the folder that they share with it.
import { opendir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { safeFolderName } from '../../../../adapters/platform/data-file/datasets-folder.ts'
import { parseJsonAs } from '../../../kernel/encoding/parse-json.ts'
import type { Log } from '../../../kernel/telemetry/log.ts'
import { siteTaskRequest } from '../../../roles/ingest/partial-run/model.ts'
import type { HandedTask, SiteTaskHandover } from '../../../roles/ingest/partial-run/site-task-handover.ts'
import {
  type HandoverFolder,
  handoverFileName,
  isHandoverFileName,
  max_request_bytes,
  requestsFolder,
  resultsFolder,
  writeHandover,
} from '../handover/handover-folder.ts'
import { isPlainFolder } from '../handover/shared-folder.ts'
import { readUntrustedFile, UntrustedFileError } from '../handover/untrusted-file.ts'

type HandoverOptions = { readonly folder: string; readonly site: string; readonly log: Pick<Log, 'warn'> }

/** Requests that are looked at in one pass; those beyond wait until others have their results. */
const max_open = 200

export function siteTaskHandover({ folder, site, log }: HandoverOptions): SiteTaskHandover {
  const requests = requestsFolder(folder, site)
  const results = resultsFolder(folder, site)
  /** By file name, as long as the file is there. */
  const known = new Map<string, HandedTask>()
  const warned = new Set<string>()
  let isReadable = true

  const readRequest = async (name: string): Promise<HandedTask | undefined> => {
    const file = join(requests.path, name)
    try {
      return parseRequest(name, await readUntrustedFile(file, max_request_bytes))
    } catch (error) {
      if (!(error instanceof UntrustedFileError)) throw error
      if (!error.isAbsent && !warned.has(name))
        log.warn('ingest.site-task.unreadable', { file: name, reason: error.message })
      warned.add(name)
      return undefined
    }
  }

  return {
    async list() {
      const open = await listNames(requests).catch((error: NodeJS.ErrnoException) => {
        if (isReadable) log.warn('ingest.site-task.unreadable', { reason: error.code ?? 'it cannot be opened' })
        isReadable = false
        return undefined
      })
      if (!open) return []
      isReadable = true
      for (const names of [known, warned]) for (const name of names.keys()) if (!open.has(name)) names.delete(name)
      const answered = await listNames(results)
      for (const name of answered) if (!open.has(name)) await rm(join(results.path, name), { force: true })
      const handed: HandedTask[] = []
      for (const name of open) {
        if (answered.has(name)) continue
        const found = known.get(name) ?? (await readRequest(name))
        if (!found) continue
        known.set(name, found)
        handed.push(found)
      }
      return handed
    },

    answer: async ({ id }, result) => await writeHandover(results, id, result),
  }
}

/** Throws `UntrustedFileError`. */
function parseRequest(name: string, bytes: Buffer): HandedTask {
  const request = parseJsonAs(siteTaskRequest, bytes)
  if (!request || handoverFileName(request) !== name) throw new UntrustedFileError('it is not a request of a worker')
  const { pipeline, dag_run_id, run } = request
  const of = `${pipeline}.${dag_run_id}.`
  const start = run.slice(of.length)
  if (!run.startsWith(of) || !/^\d{1,12}(?:\.\d{1,9})?$/.test(start))
    throw new UntrustedFileError('its run has another name on the worker')
  return { id: name, folder: safeFolderName(run), started: Number(start), request }
}

/** Empty for a folder that is not there. */
async function listNames({ root, path }: HandoverFolder): Promise<Set<string>> {
  const names = new Set<string>()
  if (!isPlainFolder(root, path)) return names
  for await (const { name } of await opendir(path)) {
    if (!isHandoverFileName(name)) continue
    names.add(name)
    if (names.size === max_open) break
  }
  return names
}
