// Collects what another person needs to diagnose a site, and nothing that is secret: one document, readable before it leaves.
import { readdirSync, statSync } from 'node:fs'
import { cpus, freemem, loadavg, release, totalmem, uptime } from 'node:os'
import { join, relative } from 'node:path'
import { redactFields } from '../../../adapters/host/log/redact.ts'
import { product } from '../../../adapters/platform/product/product.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import { parseJson } from '../../kernel/encoding/parse-json.ts'
import { redactText } from '../../kernel/secret/redact-text.ts'
import { examineSite } from '../doctor/examine-site.ts'
import { listSiteKeys } from '../keys/site-keys.ts'
import { listPeers } from '../peers/site-peers.ts'
import { readInputBytes } from '../read-input-file.ts'
import { type EnvironmentVariables, resolveProfile } from '../site/site-profile.ts'

export type SupportRequest = {
  readonly folder: SiteFolder
  readonly env: EnvironmentVariables
  /** Epoch milliseconds. */
  readonly now: number
  /** Log files to include. */
  readonly logs: readonly string[]
  readonly progress: (text: string) => void
}

const max_log_bytes = 67_108_864
/** Of each file, its last lines. */
const max_log_lines = 5_000
const max_listed_files = 2_000

/** Sections by name. One that fails holds its reason, so that the others are there. */
export async function collectSupport(request: SupportRequest): Promise<Record<string, unknown>> {
  const { folder, env, now, logs, progress } = request
  const sections: Readonly<Record<string, () => unknown>> = {
    machine: describeMachine,
    settings: () => describeSettings(folder, env),
    doctor: () => examineSite(folder, env, now, progress),
    keys: () => listSiteKeys(folder).map(({ jwk: _, ...key }) => key),
    peers: () => describePeers(folder),
    files: () => listFiles(folder),
    logs: () => logs.map((file) => ({ file, lines: readLogLines(file) })),
  }
  const collected: Record<string, unknown> = {
    format: 1,
    version: product.version,
    made_at: new Date(now).toISOString(),
  }
  for (const [name, collect] of Object.entries(sections)) {
    progress(`collecting ${name}`)
    collected[name] = await collectSection(collect)
  }
  return redactFields(collected)
}

async function collectSection(collect: () => unknown): Promise<unknown> {
  try {
    return await collect()
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) }
  }
}

function describeMachine() {
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  return {
    ...{ kernel: release(), architecture: process.arch, glibc: header?.glibcVersionRuntime, node: process.version },
    ...{ processors: cpus().length, load: loadavg(), memory_bytes: totalmem(), free_memory_bytes: freemem() },
    ...{ up_s: Math.round(uptime()), zone: Intl.DateTimeFormat().resolvedOptions().timeZone },
  }
}

/** Values of secrets are redacted by the profile itself; meanings are in the documentation. */
function describeSettings(folder: SiteFolder, env: EnvironmentVariables) {
  const { explained, problems } = resolveProfile(folder, env)
  return { values: explained.map(({ setting, value, origin }) => ({ setting, value, origin })), problems }
}

async function describePeers(folder: SiteFolder) {
  return (await listPeers(folder)).map(({ name, tenant_id, ceiling, keys, threshold }) => ({
    ...{ name, tenant_id, ceiling, threshold },
    keys: keys.map(({ jwk: _, ...key }) => key),
  }))
}

/** Names, sizes, modes and owners; no content. Messages and runs are many: the first of each folder stand for them. */
function listFiles(folder: SiteFolder) {
  const listed: { path: string; bytes: number; mode: string; uid: number }[] = []
  let left_out = 0
  const roots = [folder.keys, folder.identity, folder.peers, folder.data, folder.filedrop, folder.run]
  for (const root of roots) {
    for (const file of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
      if (listed.length >= max_listed_files) left_out += 1
      else listed.push(describeFile(join(root, file), folder))
    }
  }
  return { listed, left_out }
}

function describeFile(path: string, folder: SiteFolder) {
  const { size, mode, uid } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0, mode: 0, uid: 0 }
  return { path: relative(join(folder.data, '..'), path), bytes: size, mode: (mode & 0o7777).toString(8), uid }
}

function readLogLines(file: string): unknown[] {
  const lines = readInputBytes(file, max_log_bytes).toString('utf8').split('\n')
  return lines
    .filter((line) => line.trim() !== '')
    .slice(-max_log_lines)
    .map(readLogLine)
}

/** Structured lines are redacted by their fields, other ones by the look of their text. */
function readLogLine(line: string): unknown {
  const parsed = line.startsWith('{') ? parseJson(line) : undefined
  return typeof parsed === 'object' && parsed !== null ? parsed : redactText(line)
}
