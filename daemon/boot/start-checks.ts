// Checks before a start; each problem names the setting and the remedy.
import { isIP } from 'node:net'
import { listListeners } from '../kernel/role/configured-listener.ts'
import type { Role, RoleOutline } from '../kernel/role/role.ts'
import { keyValueSettings, searchSettings } from '../kernel/settings/backing-service-settings.ts'
import { gatewayClientSettings, registrationValues } from '../kernel/settings/gateway-settings.ts'
import { getSettings } from '../kernel/settings/get-settings.ts'
import { labelSettings, platformSettings } from '../kernel/settings/platform-settings.ts'
import type { ProfileProblem } from '../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../kernel/settings/settings.ts'
import { findDivisionProblems } from './host/site-division.ts'
import { findUnreadableFile } from './host/unreadable-file.ts'
import { findIdentityProblems } from './identity/identity-problems.ts'
import { findRoleCallProblems } from './role-call-problems.ts'

export type StartCheckInput = {
  readonly resolved: ResolvedSettings
  readonly known_roles: readonly RoleOutline[]
  readonly starting: readonly Role[]
  /** Names that replace `platform.roles`. */
  readonly requested?: readonly string[] | undefined
}

/** Problems that forbid the start; empty if there are none. Requires settings that parsed. */
export function findStartProblems(input: StartCheckInput): ProfileProblem[] {
  return [
    ...findUnknownRoles(input),
    ...findRoleRefusals(input),
    ...findOpenListeners(input),
    ...findHalfTls(input),
    ...findPlainKeyValue(input),
    ...findUnknownDefaultLevel(input),
    ...findUnprotectedSearch(input),
    ...findPlainGateway(input),
    ...findRoleCallProblems(input),
    ...findIdentityProblems(input.resolved, input.starting),
    ...findDivisionProblems(
      input.resolved,
      input.starting.map(({ name }) => name),
    ),
  ]
}

function findUnknownRoles({ resolved, known_roles, requested }: StartCheckInput): ProfileProblem[] {
  const knownNames = known_roles.map((role) => role.name)
  return (requested ?? getSettings(resolved, platformSettings).roles)
    .filter((name) => !knownNames.includes(name))
    .map((name) => ({
      path: 'platform.roles',
      message: `the role "${name}" does not exist; known: ${knownNames.join(', ')}`,
    }))
}

function findRoleRefusals({ resolved, starting }: StartCheckInput): ProfileProblem[] {
  const { deployment_profile } = getSettings(resolved, platformSettings)
  return starting.flatMap((role) => {
    const message = role.refusesToStart?.({ deployment_profile, settings: resolved, transports: [] })
    return message ? [{ path: role.name, message }] : []
  })
}

/** In profile D no listener is reachable from other machines without TLS. */
function findOpenListeners({ resolved, starting }: StartCheckInput): ProfileProblem[] {
  if (getSettings(resolved, platformSettings).deployment_profile !== 'classified_airgapped') return []
  return starting
    .flatMap((role) => listListeners(role, resolved))
    .filter(({ host, tls }) => !tls?.cert_file && !isLoopback(host))
    .map(({ host, tls, settings: [path = ''] }) => ({
      path,
      message: `${host} is not loopback: classified_airgapped refuses that ${tls ? `without TLS (${tls.settings.cert_file})` : 'for a listener that has no TLS'}`,
    }))
}

/** With only one of the two files, the listener would silently use plain text. */
function findHalfTls({ resolved, starting }: StartCheckInput): ProfileProblem[] {
  return starting
    .flatMap((role) => listListeners(role, resolved))
    .flatMap(({ tls }) => {
      if (!tls || !tls.cert_file === !tls.key_file) return []
      const { cert_file, key_file } = tls.settings
      const [present, missing] = tls.cert_file ? [cert_file, key_file] : [key_file, cert_file]
      return [{ path: missing, message: `TLS needs both files, and only ${present} is given` }]
    })
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** Passwords and counters must not cross a network in plain text. */
function findPlainKeyValue({ resolved }: StartCheckInput): ProfileProblem[] {
  const { host, verify } = getSettings(resolved, keyValueSettings)
  if (host !== undefined && typeof verify === 'string') return findUnreadableFile('kv.verify', verify)
  if (host === undefined || verify !== false || isLoopback(host)) return []
  return [
    {
      path: 'kv.verify',
      message: `${host} is not loopback, so TLS is required: set true, or a file of authorities`,
    },
  ]
}

function findUnknownDefaultLevel({ resolved }: StartCheckInput): ProfileProblem[] {
  const { levels, default_level } = getSettings(resolved, labelSettings)
  if (levels.includes(default_level)) return []
  return [{ path: 'labels.default_level', message: `"${default_level}" is not one of labels.levels` }]
}

/** The cluster receives all documents of the site, so its connection must be protected. */
function findUnprotectedSearch({ resolved }: StartCheckInput): ProfileProblem[] {
  const { host, username, password, verify, pki_cert, pki_key } = getSettings(resolved, searchSettings)
  if (host === undefined) return []
  const { protocol, hostname } = new URL(host)
  const { deployment_profile } = getSettings(resolved, platformSettings)
  const isStrict = deployment_profile === 'classified_airgapped' || deployment_profile === 'coalition_federated'
  const problems: [boolean, string, string][] = [
    [!username !== !password, 'username', 'username and password must be set together'],
    [!pki_cert !== !pki_key, 'pki_cert', 'pki_cert and pki_key must be set together'],
    [isStrict && !verify, 'verify', `${deployment_profile} requires verification of the cluster’s certificate`],
    [
      isStrict && protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, '')),
      'host',
      `${hostname} is not loopback: ${deployment_profile} refuses that without TLS (https)`,
    ],
  ]
  return problems.flatMap(([isWrong, field, message]) => (isWrong ? [{ path: `search.${field}`, message }] : []))
}

/** The token of the service must not cross a network in plain text. */
function findPlainGateway({ resolved, starting }: StartCheckInput): ProfileProblem[] {
  const { deployment_profile } = getSettings(resolved, platformSettings)
  const isStrict = deployment_profile === 'classified_airgapped' || deployment_profile === 'coalition_federated'
  const { protocol, hostname } = new URL(getSettings(resolved, gatewayClientSettings).url)
  if (!isStrict || protocol !== 'http:' || isLoopback(hostname.replace(/^\[|\]$/g, ''))) return []
  if (!starting.some(({ name }) => registrationValues.safeParse(resolved.values.get(name)).success)) return []
  return [
    {
      path: 'gateway_client.url',
      message: `${hostname} is not loopback: ${deployment_profile} refuses tokens without TLS (https)`,
    },
  ]
}
