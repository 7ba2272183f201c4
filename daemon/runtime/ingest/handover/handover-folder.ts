// The folders by which workers hand tasks to a site: workers write requests, the site writes results, and each removes its own files.
import { chmod, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { writeDurablyAsync } from '../../../../adapters/platform/durable-file/write-durably.ts'
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import { siteName } from '../../../kernel/messaging/statement.ts'
import type { SiteTaskRequest } from '../../../roles/ingest/partial-run/model.ts'
import { isForGroup, makeFolder } from './shared-folder.ts'

/** Names of as many datasets as a task takes: the service parses it at once. */
export const max_request_bytes = 262_144
/** The log of a task, and what it took. */
export const max_result_bytes = 16_777_216

/** `root`: the folder that workers and the site share; several sites may share one. */
export type HandoverFolder = { readonly root: string; readonly path: string }

export function requestsFolder(root: string, site: string): HandoverFolder {
  return folderWithin(root, 'requests', site)
}

export function resultsFolder(root: string, site: string): HandoverFolder {
  return folderWithin(root, 'results', site)
}

function folderWithin(named: string, kind: string, site: string): HandoverFolder {
  // A profile may end the name with a slash.
  const root = resolve(named)
  return { root, path: join(root, kind, siteName.parse(site)) }
}

/** Another request has another name, so that no result is that of another. */
export function handoverFileName(request: SiteTaskRequest): string {
  return `${canonicalDigest(request).slice(0, 32)}.json`
}

export function isHandoverFileName(name: string): boolean {
  return /^[0-9a-f]{32}\.json$/.test(name)
}

/** Durable when it resolves; for the group of the folder where it has one. Throws what the file system throws. */
export async function writeHandover(
  { root, path: folder }: HandoverFolder,
  name: string,
  content: unknown,
): Promise<void> {
  makeFolder(root, folder)
  const file = join(folder, name)
  const draft = join(folder, `.${name}.draft`)
  const beforeRename = async () => (isForGroup(folder) ? await chmod(draft, 0o640) : undefined)
  // One that a killed process left; a link under its name is not followed.
  await rm(draft, { force: true })
  await writeDurablyAsync(file, JSON.stringify(content), { draft, beforeRename })
}
