// What the site's public door would do, told without a daemon: by the same settings and the same judgement as its threads.
import { createReadStream, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { parseYaml } from '../../../adapters/host/yaml/yaml-document.ts'
import { type Proposal, proposeAllowlist } from '../../roles/proxy/allowlist/from-openapi.ts'
import { type Config, configOf } from '../../roles/proxy/config.ts'
import { type Explanation, explainRequest } from '../../roles/proxy/explain/explain.ts'
import { type Simulation, simulator } from '../../roles/proxy/explain/simulate.ts'
import { settings } from '../../roles/proxy/settings.ts'
import { asInvoker } from '../acting.ts'
import { valuesOf } from '../profile.ts'
import type { SiteFolder } from '../site-folder.ts'
import { Objection } from './objection.ts'
import { type Environment, siteSettings } from './site-profile.ts'

/** `target` as the caller would write it, with the prefix; `source` as the last trusted hop would. */
export function explain(
  folder: SiteFolder,
  env: Environment,
  { method, target, source }: { readonly method: string; readonly target: string; readonly source: string },
): Explanation {
  const config = configIn(folder, env)
  const hops = [source, ...Array<string>(config.depth - 1).fill('unknown')]
  const headers = ['host', 'platform', 'x-forwarded-for', hops.join(', ')]
  // On the request line a character beyond ASCII is the bytes of its UTF-8.
  const bytes = Buffer.from(target, 'utf8').toString('latin1')
  return explainRequest({ method, target: bytes, headers, peer: '127.0.0.1' }, config)
}

/** Reads the log once, however long it is; `top` is how many of what was refused are told apart. Throws `Objection` (1). */
export async function simulate(folder: SiteFolder, env: Environment, file: string, top: number): Promise<Simulation> {
  const simulation = simulator(configIn(folder, env))
  try {
    const log = await asInvoker(() => opened(file))
    for await (const line of createInterface({ input: log, crlfDelay: Number.POSITIVE_INFINITY })) simulation.take(line)
  } catch {
    throw unreadable(file)
  }
  return simulation.result(top)
}

/** A document in JSON or YAML. Throws `Objection`: 1 when it cannot be read, 5 when it is no OpenAPI document. */
export function propose(file: string): Proposal {
  const read = parseYaml(textOf(file))
  if ('faults' in read) throw new Objection(5, `${file} is no document: ${read.faults.join('; ')}`)
  const proposal = proposeAllowlist(read.value)
  if (proposal.text === '') throw new Objection(5, `${file}: ${proposal.problems.join('; ')}`)
  return proposal
}

function configIn(folder: SiteFolder, env: Environment): Config {
  return configOf(valuesOf(siteSettings(folder, env).resolved, settings))
}

function opened(file: string) {
  const stream = createReadStream(file, { encoding: 'latin1' })
  return new Promise<typeof stream>((resolve, reject) => {
    stream.once('error', reject)
    stream.once('open', () => resolve(stream))
  })
}

function textOf(file: string): string {
  try {
    return asInvoker(() => readFileSync(file, 'utf8'))
  } catch {
    throw unreadable(file)
  }
}

function unreadable(file: string): Objection {
  return new Objection(1, `${file} cannot be read: there is no such file, or this user may not read it`)
}
