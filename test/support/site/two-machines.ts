// One site on two machines: the site role with others in one folder, further roles in a folder that has only what they need.
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parse, stringify } from 'yaml'
import { importSigningKey } from '../../../adapters/keys/jose/crypto-keys.ts'
import { type RunningSite, serve } from '../../../daemon/boot/serve.ts'
import {
  roleAuthoritiesFile,
  roleKeysFolder,
  roleSocketFile,
  type SiteFolder,
  siteFolder,
  tokenKeysFile,
} from '../../../daemon/boot/storage/site-folder.ts'
import { everyOperation } from '../../../daemon/every-role.ts'
import type { AnyOperation } from '../../../daemon/kernel/operation/operation.ts'
import { issueRoleCertificate } from '../../../daemon/offline/keys/role-certificate.ts'
import { makeSiteAuthority } from '../../../daemon/offline/keys/site-authority.ts'
import { simulatedClock } from '../clock/simulated-clock.ts'
import { createCheckedClient } from '../http/checked-client.ts'
import { sendHttpRequest } from '../http/send-http-request.ts'
import type { SiteAuthority } from '../keys/site-certificates.ts'
import { findFreePortPairs } from '../monitoring/free-port-pairs.ts'
import { createTestSite, type ProfileSections, type TestSite, type TokenHolder } from './test-site.ts'

export type MachineRoles = { readonly home: readonly string[]; readonly away: readonly string[] }

/** Fields of a profile over those that both machines need. */
export type MachineProfiles = {
  readonly home?: ProfileSections
  readonly away?: ProfileSections
  readonly template?: string
  /** Variables of the second machine with the URLs of roles, which its profile then leaves out. */
  readonly away_variables?: Readonly<Record<string, string>>
}

export type LoggedEvent = { readonly event: string; readonly fields: Readonly<Record<string, unknown>> }

/** Both machines are prepared, and none is started. Certificates are valid for 90 days of the simulated clock. */
export async function createTwoMachines({ home, away }: MachineRoles, profiles: MachineProfiles = {}) {
  const clock = simulatedClock(Date.now())
  const roles = [...home, ...away]
  const ports = new Map((await findFreePortPairs(roles.length)).map((port, index) => [roles[index] ?? '', port]))
  const urls = Object.fromEntries([...ports].map(([role, port]) => [role, `https://127.0.0.1:${port}`]))
  const variables = Object.entries(profiles.away_variables ?? {})
  const named = variables.map(([role]) => role)
  const env = Object.fromEntries(variables.map(([role, variable]) => [variable, urls[role] ?? '']))
  const sectionsOf = (names: readonly string[], others: readonly string[], more: ProfileSections = {}) => ({
    ...more,
    platform: { roles: names, ...more.platform },
    role_calls: { accept_certificates: true, urls: pick(urls, others), ...more.role_calls },
    ...Object.fromEntries(names.map((role) => [role, { ...buildListener(role, ports.get(role)), ...more[role] }])),
  })
  const world = await createTestSite({
    ...{ clock, profile: sectionsOf(home, away, profiles.home) },
    ...(profiles.template === undefined ? {} : { template: profiles.template }),
  })
  const made = await makeSiteAuthority(
    world.folder,
    {},
    { name: 'alpha', days: 365, now: clock.now(), passphrase: undefined, replace: false },
  )
  const issue = async (role: string, days = 90) =>
    await issueRoleCertificate(
      world.folder,
      {},
      { role, hosts: ['127.0.0.1'] },
      { days, now: clock.now(), passphrase: () => undefined },
    )
  for (const role of roles) await issue(role)
  const folder = prepareFolder(
    world,
    away,
    sectionsOf(
      away,
      home.filter((role) => !named.includes(role)),
      profiles.away,
    ),
  )
  return new Machines(world, folder, {
    home,
    away,
    urls,
    env,
    issue,
    authority: await openAuthority(made),
  })
}

type MachinePlan = MachineRoles & {
  readonly urls: Readonly<Record<string, string>>
  readonly env: Readonly<Record<string, string>>
  readonly issue: (role: string, days?: number) => Promise<unknown>
  /** Signs also what no command signs. */
  readonly authority: SiteAuthority
}

const openAuthority = async ({
  stored,
  certificate,
}: Awaited<ReturnType<typeof makeSiteAuthority>>): Promise<SiteAuthority> => ({
  ...{ certificate: certificate.toString(), key: await importSigningKey(stored, () => undefined), file: '' },
})

const roleOf = (operation: AnyOperation) => everyOperation.find((each) => each.operation === operation)?.role ?? ''

export class Machines {
  readonly world: TestSite
  readonly folder: SiteFolder
  readonly events: LoggedEvent[] = []
  readonly plan: MachinePlan
  readonly #running = new Map<'home' | 'away', RunningSite>()

  constructor(world: TestSite, folder: SiteFolder, plan: MachinePlan) {
    this.world = world
    this.folder = folder
    this.plan = plan
  }

  async start(machine: 'home' | 'away'): Promise<void> {
    const note = (event: string, fields: Readonly<Record<string, unknown>> = {}) =>
      void this.events.push({ event, fields })
    const log = { debug: () => undefined, info: note, warn: note, error: note }
    const { folder, clock } = this.world
    const place = machine === 'home' ? { folder, env: {} } : { folder: this.folder, env: this.plan.env }
    this.#running.set(machine, await serve({ ...place, clock, log }))
  }

  async stop(machine: 'home' | 'away'): Promise<void> {
    await this.#running.get(machine)?.stop()
    this.#running.delete(machine)
  }

  async end(): Promise<void> {
    await this.stop('away')
    await this.stop('home')
    await this.world.end()
    fs.rmSync(path.dirname(path.dirname(this.folder.profile)), { recursive: true, force: true })
  }

  service(role: string) {
    const services = [...this.#running.values()].flatMap((each) => each.services)
    const found = services.find((each) => each.role.name === role)
    if (!found) throw new Error(`${role} does not run`)
    return found
  }

  folderOf = (role: string): SiteFolder => (this.plan.home.includes(role) ? this.world.folder : this.folder)

  /** At the local socket of the machine of the role. */
  call: TestSite['call'] = async (role, method, at, body, sent) =>
    await sendHttpRequest(`unix:${roleSocketFile(this.folderOf(role), role)}`, method, at, body, sent)

  async as(who?: TokenHolder) {
    return createCheckedClient({ call: this.call }, await this.world.token(who), roleOf)
  }
}

function prepareFolder(world: TestSite, roles: readonly string[], sections: ProfileSections): SiteFolder {
  const folder = siteFolder(path.join(fs.mkdtempSync(path.join(tmpdir(), 'away-')), world.name))
  fs.mkdirSync(path.join(folder.identity, 'roles'), { recursive: true, mode: 0o700 })
  for (const file of [tokenKeysFile(world.folder), roleAuthoritiesFile(world.folder), revocationsOf(world)])
    fs.copyFileSync(file, path.join(folder.identity, path.basename(file)))
  for (const role of roles) copyPrivately(roleKeysFolder(world.folder, role), roleKeysFolder(folder, role))
  const shipped = parse(fs.readFileSync(world.folder.profile, 'utf8')) as ProfileSections
  const { platform, labels, metrics } = shipped as Record<string, object>
  const common = Object.fromEntries(Object.entries({ platform, labels, metrics }).filter(([, value]) => value))
  const merged = { ...common, ...sections, platform: { ...platform, ...sections.platform } }
  fs.writeFileSync(folder.profile, stringify(merged, { aliasDuplicateObjects: false }))
  return folder
}

/** As tar copies it: with the modes of the original. */
function copyPrivately(from: string, to: string): void {
  fs.cpSync(from, to, { recursive: true })
  for (const dir of [to, path.join(to, 'certificates')]) fs.chmodSync(dir, 0o700)
}

const revocationsOf = ({ folder }: TestSite) => path.join(folder.identity, 'revoked.jsonl')

function buildListener(role: string, port: number | undefined) {
  const file = `identity/roles/${role}/certificates/role.pem`
  return { port, metrics_listen: 'none', tls_cert_file: file, tls_key_file: file }
}

const pick = (urls: Readonly<Record<string, string>>, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, urls[name] ?? '']))
