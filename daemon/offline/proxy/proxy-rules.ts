// Explains the proxy's rules without a daemon, with the same settings and decisions as its threads.
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { parseYaml } from '../../../adapters/host/yaml/yaml-document.ts'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { type AllowlistProposal, proposeAllowlist } from '../../roles/proxy/allowlist/propose-allowlist.ts'
import { compileProxyConfig, type ProxyConfig } from '../../roles/proxy/config.ts'
import { explainRequest, type RequestExplanation } from '../../roles/proxy/dry-run/explain-request.ts'
import { type Simulation, simulator } from '../../roles/proxy/dry-run/simulator.ts'
import { settings } from '../../roles/proxy/settings.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { readInputFile } from '../read-input-file.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'

/** `target`: the path that the client sends, with the prefix. `source`: the client address that the last trusted hop adds. */
export function explainProxyRequest(
  folder: SiteFolder,
  env: EnvironmentVariables,
  { method, target, source }: { readonly method: string; readonly target: string; readonly source: string },
): RequestExplanation {
  const config = readProxyConfig(folder, env)
  const hops = [source, ...Array<string>(config.depth - 1).fill('unknown')]
  const headers = ['host', 'platform', 'x-forwarded-for', hops.join(', ')]
  // On the request line, a character beyond ASCII is the bytes of its UTF-8.
  const bytes = Buffer.from(target, 'utf8').toString('latin1')
  return explainRequest({ method, target: bytes, headers, peer: '127.0.0.1' }, config)
}

/** Reads the log once, in a stream; `top` limits the number of listed denials. Throws `OfflineCommandError` (1). */
export async function simulateAccessLog(
  folder: SiteFolder,
  env: EnvironmentVariables,
  file: string,
  top: number,
): Promise<Simulation> {
  const simulation = simulator(readProxyConfig(folder, env))
  try {
    const log = await runAsInvoker(() => openAccessLog(file))
    for await (const line of createInterface({ input: log, crlfDelay: Number.POSITIVE_INFINITY })) simulation.take(line)
  } catch {
    throw unreadableFileError(file)
  }
  return simulation.result(top)
}

/**
 * Reads a document in JSON or YAML. Throws `OfflineCommandError`: 1 or 2 if it cannot be read, 5 if it is not an OpenAPI
 * document.
 */
export function proposeAllowlistFromFile(file: string): AllowlistProposal {
  const parsed = parseYaml(readInputFile(file))
  if ('faults' in parsed)
    throw new OfflineCommandError(5, `${file} is not valid YAML or JSON: ${parsed.faults.join('; ')}`)
  const proposal = proposeAllowlist(parsed.value)
  if (proposal.text === '') throw new OfflineCommandError(5, `${file}: ${proposal.problems.join('; ')}`)
  return proposal
}

function readProxyConfig(folder: SiteFolder, env: EnvironmentVariables): ProxyConfig {
  return compileProxyConfig(getSettings(readSiteSettings(folder, env).resolved, settings))
}

function openAccessLog(file: string) {
  const stream = createReadStream(file, { encoding: 'latin1' })
  return new Promise<typeof stream>((resolve, reject) => {
    stream.once('error', reject)
    stream.once('open', () => resolve(stream))
  })
}

function unreadableFileError(file: string): OfflineCommandError {
  return new OfflineCommandError(1, `${file} cannot be read: it does not exist, or this user may not read it`)
}
