// Tasks that workers of Airflow hand to the site, by files in the folder that they share with it.
import { opendir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { safeFolderName } from '../../../../adapters/platform/data-file/datasets-folder.ts'
import { parseJsonAs } from '../../../kernel/encoding/parse-json.ts'
import type { Log } from '../../../kernel/telemetry/log.ts'
import { siteTaskRequest } from '../../../roles/ingest/partial-run/model.ts'
import type { HandedTask, SiteTaskHandover } from '../../../roles/ingest/partial-run/site-task-handover.ts'
import {
  handoverFileName,
  isHandoverFileName,
  max_request_bytes,
  requestsFolder,
  resultsFolder,
  writeHandover,
} from '../handover/handover-folder.ts'
import { readUntrustedFile, UntrustedFileError } from '../handover/untrusted-file.ts'

type HandoverOptions = { readonly folder: string; readonly site: string; readonly log: Pick<Log, 'warn'> }

/** Requests that are looked at in one pass; those beyond wait until others have their results. */
const max_open = 200

export function siteTaskHandover({ folder, site, log }: HandoverOptions): SiteTaskHandover {
  const requests = requestsFolder(folder, site)
  const results = resultsFolder(folder, site)
  /** By file name, as long as the file is there; undefined for one that is not a request. */
  const known = new Map<string, HandedTask | undefined>()
  let isReadable = true

  const readRequest = async (name: string): Promise<HandedTask | undefined> => {
    try {
      const request = parseJsonAs(siteTaskRequest, await readUntrustedFile(join(requests, name), max_request_bytes))
      if (!request || handoverFileName(request) !== name)
        throw new UntrustedFileError('it is not a request of a worker')
      const isOfRun = request.run.startsWith(`${request.pipeline}.${request.dag_run_id}.`)
      if (!isOfRun) throw new UntrustedFileError('its run has another name on the worker')
      return { id: name, folder: safeFolderName(request.run), request }
    } catch (error) {
      if (!(error instanceof UntrustedFileError)) throw error
      if (!error.isAbsent) log.warn('ingest.site-task.unreadable', { file: name, reason: error.message })
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
      for (const name of known.keys()) if (!open.has(name)) known.delete(name)
      const answered = await listNames(results)
      for (const name of answered) if (!open.has(name)) await rm(join(results, name), { force: true })
      const handed: HandedTask[] = []
      for (const name of open) {
        if (answered.has(name)) continue
        if (!known.has(name)) known.set(name, await readRequest(name))
        const found = known.get(name)
        if (found) handed.push(found)
      }
      return handed
    },

    answer: async ({ id }, result) => await writeHandover(results, id, result),
  }
}

/** Empty for a folder that is not there. */
async function listNames(folder: string): Promise<Set<string>> {
  const names = new Set<string>()
  try {
    for await (const { name } of await opendir(folder)) {
      if (!isHandoverFileName(name)) continue
      names.add(name)
      if (names.size === max_open) break
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  return names
}
