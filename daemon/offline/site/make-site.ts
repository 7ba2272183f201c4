// Creates a site from a shipped profile: folder, keys, profile; never over an existing one.
import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { prepareRevocations } from '../../../adapters/identity/offline/revocations.ts'
import { generateKey } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { createWrappingKey } from '../../../adapters/keys/jose/wrapping-keys.ts'
import { writeDurably } from '../../../adapters/platform/durable-file/write-durably.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import type { KeyAlgorithm, PublicKey } from '../../kernel/cryptography/signatures.ts'
import { formatFieldErrors, parseWithSchema } from '../../kernel/error/parsing.ts'
import { platformSettings } from '../../kernel/settings/platform-settings.ts'
import { roles } from '../../roles.ts'
import { generateRoleKey } from '../keys/role-keys.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { withChosenRoles } from './chosen-roles.ts'
import { hasValue, listTemplates, readTemplate, withValue } from './profile-template.ts'

export type NewSite = {
  readonly template: string
  readonly name: string
  readonly tenant_id: string
  /** First port, in the order of the list of roles; 0 takes free ports, undefined the standard ones. */
  readonly port_base: number | undefined
  readonly algorithm: KeyAlgorithm | undefined
  /** Roles that the site runs; undefined for those of the shipped profile. */
  readonly roles?: readonly string[] | undefined
  /** Epoch milliseconds. */
  readonly now: number
}

export type CreatedSite = {
  readonly keys: readonly PublicKey[]
  /** Role to port; empty if the standard ports are used. */
  readonly ports: Readonly<Record<string, number>>
}

const initialKeyUses: readonly PublicKey['use'][] = ['message', 'token', 'root']

/**
 * Creates everything privately (0700, 0600) and writes the profile last, so that a partial site is not taken for a
 * site. Throws `OfflineCommandError` for an existing site, and for values that a profile cannot hold.
 */
export async function makeSite(folder: SiteFolder, newSite: NewSite): Promise<CreatedSite> {
  const { text, ports } = buildProfileText(newSite)
  const home = dirname(folder.profile)
  if (fs.existsSync(folder.profile))
    throw new OfflineCommandError(3, `${home} already contains a site`, 'choose another folder')
  // The folder becomes private, which would harm other users of a shared folder.
  if (holdsFiles(home))
    throw new OfflineCommandError(3, `${home} contains other files`, 'choose a new folder, or an empty one')
  makePrivateFolder(home)
  for (const part of [folder.keys, folder.peers, folder.data, folder.filedrop, folder.run]) makePrivateFolder(part)
  prepareRevocations(dirname(folder.identity))
  const terms = { now: newSite.now, ...(newSite.algorithm ? { algorithm: newSite.algorithm } : {}) }
  const keys: PublicKey[] = []
  for (const use of initialKeyUses) keys.push(await generateKey(folder.keys, { use, ...terms }))
  await createWrappingKey(folder.keys, { now: newSite.now })
  for (const { name } of roles) await generateRoleKey(folder, name, terms)
  // Fails if another process has created the site meanwhile.
  writeDurably(folder.profile, text, { existing_file: 'refuse' })
  return { keys, ports }
}

function buildProfileText(newSite: NewSite): { text: string; ports: Record<string, number> } {
  const template = readTemplate(newSite.template)
  if (template === undefined) {
    throw new OfflineCommandError(
      2,
      `there is no shipped profile "${newSite.template}"; the profiles are ${listTemplates().join(', ')}`,
    )
  }
  const { name, tenant_id } = platformSettings.shape
  for (const [field, schema, value] of [
    ['name', name, newSite.name],
    ['tenant', tenant_id, newSite.tenant_id],
  ] as const) {
    const validation = parseWithSchema(schema, value)
    if (!validation.success)
      throw new OfflineCommandError(
        2,
        `the ${field} "${value}" cannot be used: ${formatFieldErrors(validation.errors)}`,
      )
  }
  const withRoles = newSite.roles === undefined ? template : withChosenRoles(template, newSite.roles)
  const withName = withValue(withRoles, 'platform', 'name', newSite.name)
  const profileText = withValue(withName, 'platform', 'tenant_id', newSite.tenant_id)
  const { port_base } = newSite
  if (port_base === undefined) return { text: profileText, ports: {} }
  const ports = Object.fromEntries(roles.map((role, index) => [role.name, port_base === 0 ? 0 : port_base + index]))
  const text = Object.entries(ports).reduce(withPort, profileText)
  return { text: withFurtherPorts(text, port_base), ports }
}

/** Further listeners use ports twenty above, after the internal ones. */
function withFurtherPorts(text: string, port_base: number): string {
  return roles
    .flatMap(({ name, listeners: [, ...further] }) => further.map(({ prefix }) => [name, `${prefix}port`] as const))
    .reduce((before, [role, field], index) => {
      return withValue(before, role, field, port_base === 0 ? 0 : port_base + 20 + index)
    }, text)
}

/** Internal listeners, if the profile has them, use ports ten above: two sites then share no port. */
function withPort(text: string, [role, port]: [string, number]): string {
  const withRolePort = withValue(text, role, 'port', port)
  if (!hasValue(text, role, 'metrics_listen')) return withRolePort
  return withValue(withRolePort, role, 'metrics_listen', `127.0.0.1:${port === 0 ? 0 : port + 10}`)
}

function holdsFiles(dir: string): boolean {
  return fs.existsSync(dir) && fs.readdirSync(dir).length > 0
}

function makePrivateFolder(dir: string): void {
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 })
  fs.chmodSync(dir, 0o700)
}
