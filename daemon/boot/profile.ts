// Reads a site's profile and resolves every setting: default, file, environment, flag.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import * as z from 'zod'
import { parseYaml } from '../../adapters/host/yaml/yaml-document.ts'
import { readSecretFile, SecretFileError } from '../../adapters/platform/secret-file/read-secret-file.ts'
import type { RoleOutline } from '../kernel/role/role.ts'
import { searchSettings } from '../kernel/settings/backing-service-settings.ts'
import { cryptographySettings } from '../kernel/settings/cryptography-settings.ts'
import { gatewayClientSettings } from '../kernel/settings/gateway-settings.ts'
import { identitySettings, labelSettings, platformSettings } from '../kernel/settings/platform-settings.ts'
import { ProfileError } from '../kernel/settings/profile-error.ts'
import { roleCallSettings } from '../kernel/settings/role-call-settings.ts'
import {
  metaOf,
  type ResolvedSettings,
  resolveSettings,
  type SettingSources,
  type SettingsBlock,
} from '../kernel/settings/settings.ts'
import { ssoSettings, x509Settings } from '../kernel/settings/sso-settings.ts'
import { traceSettings } from '../kernel/settings/trace-settings.ts'
import { ingressSettings } from '../shared/routing/ingress-settings.ts'

/** Every section that a profile may have, each once. Throws for two sections of one name. */
export function listSettingsBlocks(roles: readonly RoleOutline[]): SettingsBlock[] {
  const siteBlocks = [
    platformSettings,
    labelSettings,
    cryptographySettings,
    identitySettings,
    ssoSettings,
    x509Settings,
    roleCallSettings,
    searchSettings,
    traceSettings,
    gatewayClientSettings,
    ingressSettings,
  ]
  const blocks = [...siteBlocks, ...roles.flatMap((role) => role.settings)] as SettingsBlock[]
  const sections = new Map<string, SettingsBlock>()
  for (const block of blocks) {
    if ((sections.get(block.name) ?? block) !== block)
      throw new TypeError(`two sections of the profile are named "${block.name}"`)
    sections.set(block.name, block)
  }
  return [...sections.values()]
}

/** A command reads the profile of its site several times: its text is parsed once. */
let newest: { readonly text: string; readonly profile: Record<string, unknown> } | undefined

/** Parses the profile file; throws ProfileError for unreadable or malformed YAML. */
export function readProfile(file: string): Record<string, unknown> {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    throw new ProfileError([{ path: file, message: 'the profile cannot be read; `platform init` makes one' }])
  }
  if (newest?.text === text) return newest.profile
  const document = parseYaml(text)
  if ('faults' in document) throw new ProfileError(document.faults.map((message) => ({ path: file, message })))
  const parsed = z.record(z.string(), z.unknown()).safeParse(document.value ?? {})
  if (!parsed.success) throw new ProfileError([{ path: file, message: 'the profile must be a mapping of sections' }])
  newest = { text, profile: parsed.data }
  return parsed.data
}

/**
 * `folder`: that of the profile, at which relative paths begin. `starting`: roles whose secrets are read (default:
 * those of the profile).
 */
export function resolveProfileSettings(
  roles: readonly RoleOutline[],
  profile: Readonly<Record<string, unknown>>,
  env: SettingSources['env'],
  flags: SettingSources['flags'],
  folder: string,
  starting?: readonly string[],
): ResolvedSettings {
  const needsSecrets: SettingSources['needsSecrets'] = (section, resolvedSections) => {
    const { roles: profileRoles = [] } = (resolvedSections.get(platformSettings.name) ?? {}) as {
      roles?: readonly string[]
    }
    const owners = roles.filter(({ settings }) => settings.some(({ name }) => name === section))
    return owners.length === 0 || owners.some(({ name }) => (starting ?? profileRoles).includes(name))
  }
  return resolveSettings(listSettingsBlocks(roles), {
    profile,
    env,
    flags,
    resolvePath: (path) => resolve(folder, path),
    readSecret: readNamedSecret,
    needsSecrets,
  })
}

/** Throws without the name of the file: its variable identifies it. */
function readNamedSecret(path: string): string {
  try {
    return readSecretFile(path)
  } catch (error) {
    throw error instanceof SecretFileError ? new Error(error.reason, { cause: error }) : error
  }
}

/** JSON Schema (draft 2020-12) of a whole profile. */
export function buildProfileSchema(roles: readonly RoleOutline[]): Record<string, unknown> {
  const sections = listSettingsBlocks(roles).map((section) => [section.name, section.schema.optional()] as const)
  return z.toJSONSchema(z.strictObject(Object.fromEntries(sections)), {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const { doc } = metaOf(zodSchema as unknown as z.ZodType)
      if (doc) Object.assign(jsonSchema, { description: doc })
      if (zodSchema instanceof z.ZodObject) addNestedNames(jsonSchema, zodSchema.shape)
      for (const key of ['doc', 'env', 'secret', 'nested']) delete (jsonSchema as Record<string, unknown>)[key]
    },
  }) as Record<string, unknown>
}

/** Adds the groups by which a profile may nest fields, such as `mcp: { enabled: true }`. */
function addNestedNames(jsonSchema: { properties?: unknown }, shape: Readonly<Record<string, unknown>>): void {
  const properties = (jsonSchema.properties ?? {}) as Record<string, object>
  for (const [field, schema] of Object.entries(shape)) {
    const [group, member] = metaOf(schema as z.ZodType).nested?.split('.') ?? []
    if (group === undefined || member === undefined) continue
    properties[group] = { type: 'object', properties: { [member]: properties[field] }, additionalProperties: false }
  }
}
