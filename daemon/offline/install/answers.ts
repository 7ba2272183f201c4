// The answers file of an installation: everything that an unattended installation has to know, with its defaults.
import * as z from 'zod'
import { parseYaml } from '../../../adapters/host/yaml/yaml-document.ts'
import { keyAlgorithm } from '../../kernel/cryptography/signatures.ts'
import { formatFieldErrors, parseWithSchema } from '../../kernel/error/parsing.ts'
import { platformSettings } from '../../kernel/settings/platform-settings.ts'
import { roles } from '../../roles.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { layout } from './layout.ts'

/** No quote, space, `%` or `$`: these paths stand in units, and in a shell script. */
const absolutePath = z
  .string()
  .max(80)
  .regex(/^(\/[A-Za-z0-9_][A-Za-z0-9._-]*)+$/, 'must be an absolute path of letters, digits, "_", "-" and "."')
  .refine((path) => !path.split('/').includes('..'))

/** What useradd accepts on every distribution. */
const accountName = z
  .string()
  .max(20)
  .regex(/^[a-z][a-z0-9-]*$/, 'must begin with a letter, and consist of small letters, digits and "-"')

const roleName = z.enum(roles.map(({ name }) => name) as [string, ...string[]])

const { name, tenant_id } = platformSettings.shape

export const installationAnswers = z.strictObject({
  format: z.literal(1).meta({ description: 'Version of this file' }),
  site: z.strictObject({
    name: name.meta({ description: 'Name of the site, by which peers address it' }),
    tenant: tenant_id.optional().meta({ description: 'Tenant of the site (default: its name)' }),
    folder: absolutePath.default(layout.site).meta({ description: 'Folder of the site' }),
    profile: z
      .string()
      .regex(/^[a-z-]{1,40}$/)
      .default('classified-airgapped')
      .meta({ description: 'Shipped profile to start from' }),
    roles: z
      .array(roleName)
      .min(1)
      .refine((names) => new Set(names).size === names.length, 'a role is named twice')
      .default(['site', 'consensus', 'resolution', 'intelligence'])
      .meta({ description: 'Roles that this machine runs, each as a user of its own' }),
    port_base: z.int().min(1).max(65_000).optional().meta({ description: 'First port (default: the standard ports)' }),
    algorithm: keyAlgorithm.optional().meta({ description: 'Algorithm of the keys' }),
  }),
  users: z
    .strictObject({
      group: accountName.default('platform').meta({ description: 'Group of all users of the site' }),
      prefix: accountName.default('platform').meta({ description: 'The user of a role is PREFIX-ROLE' }),
    })
    .prefault({}),
  backups: absolutePath
    .default(layout.backups)
    .meta({ description: 'Folder for backups, of the user of the role site' }),
  service_manager: z
    .enum(['systemd', 'script'])
    .default('systemd')
    .meta({ description: 'systemd units, or a supervisor in POSIX shell' }),
  sandbox_roles: z
    .array(roleName)
    .default([])
    .meta({ description: 'Roles whose unit may make namespaces, in which they enclose the commands that they run' }),
  writable: z
    .array(absolutePath)
    .max(32)
    .default([])
    .meta({ description: 'Further folders that the role site may write, such as those of a courier' }),
  start: z.boolean().default(true).meta({ description: 'Start the roles, where systemd runs' }),
})
export type InstallationAnswers = z.infer<typeof installationAnswers>

/** Throws `OfflineCommandError` (2) with every fault. `file`: for messages. */
export function parseAnswers(text: string, file: string): InstallationAnswers {
  const parsed = parseYaml(text)
  if ('faults' in parsed) throw refuseAnswers(file, parsed.faults.join('; '))
  const validation = parseWithSchema(installationAnswers, parsed.value)
  if (!validation.success) throw refuseAnswers(file, formatFieldErrors(validation.errors))
  const { site, sandbox_roles } = validation.data
  const others = sandbox_roles.filter((role) => !site.roles.includes(role))
  if (others.length > 0)
    throw refuseAnswers(file, `sandbox_roles names ${others.join(', ')}, which site.roles does not`)
  if (!site.roles.includes('site'))
    throw refuseAnswers(file, 'site.roles does not name the role site, which owns the files of the site')
  return validation.data
}

function refuseAnswers(file: string, faults: string): OfflineCommandError {
  return new OfflineCommandError(
    2,
    `the answers in ${file} are invalid: ${faults}`,
    '`platform install --schema` prints their schema',
  )
}

/** JSON Schema of the answers, of what a person writes. */
export function answersSchema(): unknown {
  return z.toJSONSchema(installationAnswers, { io: 'input', target: 'draft-2020-12' })
}

export function roleUser({ users }: InstallationAnswers, role: string): string {
  return `${users.prefix}-${role}`
}
