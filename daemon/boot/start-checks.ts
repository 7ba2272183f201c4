// What must hold before anything of a site starts; each refusal names the setting and the remedy.
import { isIP } from 'node:net'
import { isCron } from '../../adapters/host/schedule/cron.ts'
import type { PublicKey } from '../kernel/cryptography/signatures.ts'
import type { Role, RoleOutline } from '../kernel/role/role.ts'
import { keyValueSettings, searchSettings } from '../kernel/settings/backing-service-settings.ts'
import { labelSettings, platformSettings } from '../kernel/settings/platform-settings.ts'
import type { ResolvedSettings } from '../kernel/settings/settings.ts'
import { brokerFault, findPeersServedTwice } from '../roles/site/carrier-settings.ts'
import { filedropSettings, settings as siteRoleSettings } from '../roles/site/settings.ts'
import { coalitionSettings, findCoalitionFault } from '../shared/coalition/coalition-settings.ts'
import { findDivisionProblems } from './host/site-division.ts'
import { findUnreadableFile } from './host/unreadable-file.ts'
import { findIdentityProblems } from './identity/identity-problems.ts'
import { findAccreditationFault, findAccreditationLapse } from './links/accredited-peers.ts'
import { getSettings, type ProfileProblem } from './profile.ts'

export type StartCheckInput = {
  readonly resolved: ResolvedSettings
  readonly all: readonly RoleOutline[]
  readonly starting: readonly Role[]
  /** Names given instead of `platform.roles`. */
  readonly named?: readonly string[] | undefined
  /** Names of the enrolled peers: each has a federation channel. */
  readonly peers: readonly string[]
  /** The site's own; undefined where they are not at hand. */
  readonly keys?: readonly PublicKey[] | undefined
  /** Epoch milliseconds. */
  readonly now: number
}

/** Everything that forbids the start; empty when it may. The settings themselves must have parsed. */
export function findStartProblems(given: StartCheckInput): ProfileProblem[] {
  return [
    ...findUnknownRoles(given),
    ...findRoleRefusals(given),
    ...findOpenListeners(given),
    ...findHalfTls(given),
    ...findUnaccreditedChannels(given),
    ...findPeersOnTwoNetworks(given),
    ...findIncompleteCoalition(given),
    ...findPlainKeyValue(given),
    ...findMissingBroker(given),
    ...findMissingKeys(given),
    ...findUnaccreditedAcknowledgements(given),
    ...findInvalidValues(given),
    ...findUnprotectedSearch(given),
    ...findIdentityProblems(given.resolved, given.starting),
    ...findDivisionProblems(
      given.resolved,
      given.starting.map(({ name }) => name),
    ),
  ]
}

function findUnknownRoles({ resolved, all, named }: StartCheckInput): ProfileProblem[] {
  const known = all.map((role) => role.name)
  return (named ?? getSettings(resolved, platformSettings).roles)
    .filter((name) => !known.includes(name))
    .map((name) => ({ path: 'platform.roles', message: `there is no role "${name}"; known: ${known.join(', ')}` }))
}

function findRoleRefusals({ resolved, starting }: StartCheckInput): ProfileProblem[] {
  const { deployment_profile } = getSettings(resolved, platformSettings)
  return starting.flatMap((role) => {
    const message = role.refusesToStart?.({ deployment_profile, settings: resolved, transports: [] })
    return message ? [{ path: role.name, message }] : []
  })
}

/** In profile D nothing listens beyond the machine without TLS. */
function findOpenListeners({ resolved, starting }: StartCheckInput): ProfileProblem[] {
  if (getSettings(resolved, platformSettings).deployment_profile !== 'classified_airgapped') return []
  return starting.flatMap((role) => {
    const { listen, metrics_listen, tls_cert_file } = (resolved.values.get(role.name) ?? {}) as Record<
      string,
      string | undefined
    >
    const hosts = [
      ...(tls_cert_file ? [] : [['listen', listen]]),
      ['metrics_listen', metrics_listen?.replace(/:\d+$/, '')],
    ]
    return hosts
      .filter(([, host]) => host !== undefined && !isLoopback(host))
      .map(([field, host]) => ({
        path: `${role.name}.${field}`,
        message: `${host} is not loopback: classified_airgapped refuses that without TLS (${role.name}.tls_cert_file)`,
      }))
  })
}

/** With one file of the two the listener would speak plain text, and nobody would notice. */
function findHalfTls({ resolved, starting }: StartCheckInput): ProfileProblem[] {
  return starting.flatMap(({ name }) => {
    const { tls_cert_file, tls_key_file } = (resolved.values.get(name) ?? {}) as Record<string, string | undefined>
    if (!tls_cert_file === !tls_key_file) return []
    const [given, missing] = tls_cert_file ? ['tls_cert_file', 'tls_key_file'] : ['tls_key_file', 'tls_cert_file']
    return [{ path: `${name}.${missing}`, message: `TLS needs both files, and only ${name}.${given} is given` }]
  })
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** In profile D every federation channel is accredited, by name and date, or the process does not start. */
function findUnaccreditedChannels({ resolved, starting, peers, now }: StartCheckInput): ProfileProblem[] {
  if (!starting.some((role) => role.name === 'site')) return []
  return peers.flatMap((peer) => {
    const fault = findAccreditationFault(peer, resolved, now)
    if (!fault) return []
    const message = `the channel to ${peer} may not be used: ${fault} {authority, reference, valid_until}`
    return [{ path: `site.accreditations.${peer}`, message }]
  })
}

/** What goes back tells a sender about its receiver: that is accredited by name in every profile. */
function findUnaccreditedAcknowledgements({ resolved, starting, now }: StartCheckInput): ProfileProblem[] {
  if (!starting.some((role) => role.name === 'site')) return []
  return Object.keys(getSettings(resolved, filedropSettings).acknowledgements).flatMap((peer) => {
    const fault = findAccreditationLapse(peer, resolved, now)
    if (!fault) return []
    const message = `no acknowledgement may go to ${peer}: ${fault}; see site.accreditations.${peer}`
    return [{ path: `filedrop.acknowledgements.${peer}`, message }]
  })
}

/** Passwords and counters of a site do not cross a network in the clear. */
function findPlainKeyValue({ resolved }: StartCheckInput): ProfileProblem[] {
  const { host, verify } = getSettings(resolved, keyValueSettings)
  if (host !== undefined && typeof verify === 'string') return findUnreadableFile('kv.verify', verify)
  if (host === undefined || verify !== false || isLoopback(host)) return []
  return [
    {
      path: 'kv.verify',
      message: `${host} is not loopback, so it is reached by TLS alone: true, or a file of authorities`,
    },
  ]
}

function findPeersOnTwoNetworks({ resolved, starting }: StartCheckInput): ProfileProblem[] {
  if (!starting.some((role) => role.name === 'site')) return []
  const two = findPeersServedTwice((section) => getSettings(resolved, section))
  return two.map((peer) => ({ path: 'site', message: `${peer} is named by more than one network; leave one` }))
}

function findMissingBroker({ resolved, starting }: StartCheckInput): ProfileProblem[] {
  if (!starting.some((role) => role.name === 'site')) return []
  const fault = brokerFault((section) => getSettings(resolved, section))
  return fault === undefined ? [] : [{ path: 'amqp', message: fault }]
}

function findIncompleteCoalition({ resolved, starting }: StartCheckInput): ProfileProblem[] {
  if (!starting.some((role) => role.name === 'site')) return []
  const message = findCoalitionFault(getSettings(resolved, coalitionSettings))
  return message === undefined ? [] : [{ path: 'coalition', message }]
}

const requiredKeyUses: readonly PublicKey['use'][] = ['message', 'token']

/** Without one nothing could be sent, or nobody let in: better no start than half of one. */
function findMissingKeys({ starting, keys, now }: StartCheckInput): ProfileProblem[] {
  if (keys === undefined || !starting.some((role) => role.name === 'site')) return []
  const able = keys.filter(
    ({ status, not_after }) => status === 'active' && (not_after === undefined || now < Date.parse(not_after)),
  )
  return requiredKeyUses
    .filter((use) => !able.some((key) => key.use === use))
    .map((use) => ({
      path: 'keys',
      message: `the site has no active ${use} key: run \`platform keys generate --use ${use}\``,
    }))
}

function findInvalidValues({ resolved }: StartCheckInput): ProfileProblem[] {
  const { levels, default_level } = getSettings(resolved, labelSettings)
  const { backup_cron } = getSettings(resolved, siteRoleSettings)
  return [
    ...(levels.includes(default_level)
      ? []
      : [{ path: 'labels.default_level', message: `"${default_level}" is not one of labels.levels` }]),
    ...(backup_cron && !isCron(backup_cron)
      ? [{ path: 'site.backup_cron', message: 'this is no cron expression' }]
      : []),
  ]
}

/** What leaves the machine for the cluster is everything that the site knows. */
function findUnprotectedSearch({ resolved }: StartCheckInput): ProfileProblem[] {
  const { host, username, password, verify, pki_cert, pki_key } = getSettings(resolved, searchSettings)
  if (host === undefined) return []
  const { protocol, hostname } = new URL(host)
  const { deployment_profile } = getSettings(resolved, platformSettings)
  const isStrict = deployment_profile === 'classified_airgapped' || deployment_profile === 'coalition_federated'
  const problems: [boolean, string, string][] = [
    [!username !== !password, 'username', 'a user and a password go together'],
    [!pki_cert !== !pki_key, 'pki_cert', 'a client certificate and its key go together'],
    [isStrict && !verify, 'verify', `${deployment_profile} wants the cluster’s certificate verified`],
    [
      isStrict && protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, '')),
      'host',
      `${hostname} is not loopback: ${deployment_profile} refuses that without TLS (https)`,
    ],
  ]
  return problems.flatMap(([isWrong, field, message]) => (isWrong ? [{ path: `search.${field}`, message }] : []))
}
