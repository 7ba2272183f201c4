// A site of a demo: created like any other, run as its own daemon, called over its local sockets.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { offline, type SiteFolder } from '../../daemon/offline/offline.ts'
import type { ServiceClient } from '../client/client.ts'
import { connectServiceClient } from '../client/connection.ts'
import { CommandFailure } from '../program/command.ts'
import { waitUntil } from './wait-until.ts'

export type DemoSite = {
  readonly name: string
  readonly dir: string
  readonly folder: SiteFolder
  /** Clients with the token of an analyst, and of an operator. */
  readonly analyst: ServiceClient
  readonly operator: ServiceClient
  stop(): Promise<void>
  /** Ends the daemon as a failure of its machine would, without a chance to say goodbye. */
  kill(): Promise<void>
}

/** `sections`: of the profile, beside those of the shipped one; ports are free where they name none. */
export type DemoSiteTerms = { readonly tenant_id: string; readonly sections: Readonly<Record<string, object>> }

/** Makes the site and exports its public keys to `<dir>.keys.json`. */
export async function makeDemoSite(dir: string, name: string, terms?: DemoSiteTerms): Promise<SiteFolder> {
  const folder = offline.siteFolder(dir)
  const { makeSite } = await offline.siteCreation()
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  await makeSite(folder, {
    template: 'demo',
    name,
    tenant_id: terms?.tenant_id ?? name,
    // Ports are sections of their own.
    port_base: terms ? undefined : 0,
    algorithm: undefined,
    now: Date.now(),
  })
  // JSON is YAML.
  for (const [section, values] of Object.entries(terms?.sections ?? {}))
    appendFileSync(folder.profile, `${section}: ${JSON.stringify(values)}\n`)
  const keys = await offline.keys()
  writeFileSync(`${dir}.keys.json`, `${JSON.stringify(keys.exportSiteJwks(folder, undefined), undefined, 2)}\n`, {
    mode: 0o600,
  })
  return folder
}

/** The roles that the daemon runs, and settings of it as variables of the environment. */
export type DemoDaemon = { readonly roles: readonly string[]; readonly env: Readonly<Record<string, string>> }

/** Starts the daemon and resolves once all of its roles answer. Its log is `<dir>/daemon.log`. */
export async function startDemoSite(
  dir: string,
  name: string,
  { roles, env: more }: DemoDaemon,
  signal: AbortSignal,
): Promise<DemoSite> {
  const folder = offline.siteFolder(dir)
  const [program, ...leadingArgs] = offline.selfCommand()
  const log = openSync(join(dir, 'daemon.log'), 'a', 0o600)
  const env = { ...process.env, PLATFORM_ROLES: roles.join(), ...more }
  const daemon = spawn(program, [...leadingArgs, 'serve', '--site', dir], { stdio: ['ignore', log, log], env })
  closeSync(log)
  const stop = () => endDaemon(daemon, 'SIGTERM')
  try {
    const analyst = await connectClientAs(folder, 'demo', ['analyst'])
    const operator = await connectClientAs(folder, 'demo-operator', ['admin'])
    await waitUntil(`the daemon of ${name}`, signal, async () => {
      if (daemon.exitCode !== null)
        throw new CommandFailure(1, `the daemon of ${name} exited; see ${join(dir, 'daemon.log')}`)
      const readiness = await Promise.all(roles.map((role) => isRoleReady(operator, role)))
      return readiness.every((isReady) => isReady)
    })
    return { name, dir, folder, analyst, operator, stop, kill: () => endDaemon(daemon, 'SIGKILL') }
  } catch (error) {
    await stop()
    throw error
  }
}

async function connectClientAs(folder: SiteFolder, sub: string, roles: string[]): Promise<ServiceClient> {
  return connectServiceClient({ folder, url: undefined, token: await mintDemoToken(folder, sub, roles), env: {} })
}

/** For an hour, cleared for all levels of the site. */
export async function mintDemoToken(folder: SiteFolder, sub: string, roles: string[]): Promise<string> {
  const { readSiteSettings } = await offline.profile()
  const { platform, labels } = readSiteSettings(folder, {})
  const tokens = await offline.tokens()
  const level = labels.levels.at(-1)
  const claims = { sub, tenant_id: platform.tenant_id, roles, ...(level ? { clearance: { level } } : {}) }
  const { token } = await tokens.mintRecordedToken(folder, {}, claims, 3_600, Date.now())
  return token
}

async function isRoleReady(client: ServiceClient, role: string): Promise<boolean> {
  try {
    const { status } = await client.call(`${role}.service.health`, {})
    return status === 'ok'
  } catch {
    return false
  }
}

async function endDaemon(daemon: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return
  const exit = once(daemon, 'exit')
  daemon.kill(signal)
  await exit
}
