// What must hold before anything of a site starts; each refusal names the setting and the remedy.
import { isIP } from 'node:net'
import { isCron } from '../../adapters/host/schedule/cron.ts'
import { coalitionFault, coalitionSettings } from '../kernel/coalition-settings.ts'
import { keyValueSettings, searchSettings } from '../kernel/engine-settings.ts'
import type { PublicKey } from '../kernel/keys.ts'
import { labelSettings, platformSettings } from '../kernel/platform-settings.ts'
import type { Role, RoleOutline } from '../kernel/role.ts'
import type { Resolved } from '../kernel/settings.ts'
import { brokerFault, servedTwice } from '../roles/site/carrier-settings.ts'
import { filedropSettings, settings as siteRoleSettings } from '../roles/site/settings.ts'
import { accreditationFault, accreditationLapse } from './accredited-peers.ts'
import { divisionProblems } from './division.ts'
import { identityProblems } from './identity-problems.ts'
import { type ProfileProblem, valuesOf } from './profile.ts'
import { unreadable } from './unreadable.ts'

export type Standing = {
  readonly resolved: Resolved
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
export function startProblems(given: Standing): ProfileProblem[] {
  return [
    ...unknownRoles(given),
    ...refusals(given),
    ...openListeners(given),
    ...halfTls(given),
    ...unaccredited(given),
    ...servedByTwo(given),
    ...halfCoalition(given),
    ...plainKeyValue(given),
    ...withoutBroker(given),
    ...withoutKeys(given),
    ...unaccreditedWaysBack(given),
    ...oddValues(given),
    ...openSearches(given),
    ...identityProblems(given.resolved, given.starting),
    ...divisionProblems(
      given.resolved,
      given.starting.map(({ name }) => name),
    ),
  ]
}

function unknownRoles({ resolved, all, named }: Standing): ProfileProblem[] {
  const known = all.map((role) => role.name)
  return (named ?? valuesOf(resolved, platformSettings).roles)
    .filter((name) => !known.includes(name))
    .map((name) => ({ path: 'platform.roles', message: `there is no role "${name}"; known: ${known.join(', ')}` }))
}

function refusals({ resolved, starting }: Standing): ProfileProblem[] {
  const { deployment_profile } = valuesOf(resolved, platformSettings)
  return starting.flatMap((role) => {
    const message = role.refusesToStart?.({ deployment_profile, settings: resolved, transports: [] })
    return message ? [{ path: role.name, message }] : []
  })
}

/** In profile D nothing listens beyond the machine without TLS. */
function openListeners({ resolved, starting }: Standing): ProfileProblem[] {
  if (valuesOf(resolved, platformSettings).deployment_profile !== 'classified_airgapped') return []
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
function halfTls({ resolved, starting }: Standing): ProfileProblem[] {
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
function unaccredited({ resolved, starting, peers, now }: Standing): ProfileProblem[] {
  if (!starting.some((role) => role.name === 'site')) return []
  return peers.flatMap((peer) => {
    const fault = accreditationFault(peer, resolved, now)
    if (!fault) return []
    const message = `the channel to ${peer} may not be used: ${fault} {authority, reference, valid_until}`
    return [{ path: `site.accreditations.${peer}`, message }]
  })
}

/** What goes back tells a sender about its receiver: that is accredited by name in every profile. */
function unaccreditedWaysBack({ resolved, starting, now }: Standing): ProfileProblem[] {
  if (!starting.some((role) => role.name === 'site')) return []
  return Object.keys(valuesOf(resolved, filedropSettings).acknowledgements).flatMap((peer) => {
    const fault = accreditationLapse(peer, resolved, now)
    if (!fault) return []
    const message = `no acknowledgement may go to ${peer}: ${fault}; see site.accreditations.${peer}`
    return [{ path: `filedrop.acknowledgements.${peer}`, message }]
  })
}

/** Passwords and counters of a site do not cross a network in the clear. */
function plainKeyValue({ resolved }: Standing): ProfileProblem[] {
  const { host, verify } = valuesOf(resolved, keyValueSettings)
  if (host !== undefined && typeof verify === 'string') return unreadable('kv.verify', verify)
  if (host === undefined || verify !== false || isLoopback(host)) return []
  return [
    {
      path: 'kv.verify',
      message: `${host} is not loopback, so it is reached by TLS alone: true, or a file of authorities`,
    },
  ]
}

function servedByTwo({ resolved, starting }: Standing): ProfileProblem[] {
  if (!starting.some((role) => role.name === 'site')) return []
  const two = servedTwice((section) => valuesOf(resolved, section))
  return two.map((peer) => ({ path: 'site', message: `${peer} is named by more than one network; leave one` }))
}

function withoutBroker({ resolved, starting }: Standing): ProfileProblem[] {
  if (!starting.some((role) => role.name === 'site')) return []
  const fault = brokerFault((section) => valuesOf(resolved, section))
  return fault === undefined ? [] : [{ path: 'amqp', message: fault }]
}

function halfCoalition({ resolved, starting }: Standing): ProfileProblem[] {
  if (!starting.some((role) => role.name === 'site')) return []
  const message = coalitionFault(valuesOf(resolved, coalitionSettings))
  return message === undefined ? [] : [{ path: 'coalition', message }]
}

const needed: readonly PublicKey['use'][] = ['message', 'token']

/** Without one nothing could be sent, or nobody let in: better no start than half of one. */
function withoutKeys({ starting, keys, now }: Standing): ProfileProblem[] {
  if (keys === undefined || !starting.some((role) => role.name === 'site')) return []
  const able = keys.filter(
    ({ status, not_after }) => status === 'active' && (not_after === undefined || now < Date.parse(not_after)),
  )
  return needed
    .filter((use) => !able.some((key) => key.use === use))
    .map((use) => ({
      path: 'keys',
      message: `the site has no active ${use} key: run \`platform keys generate --use ${use}\``,
    }))
}

function oddValues({ resolved }: Standing): ProfileProblem[] {
  const { levels, default_level } = valuesOf(resolved, labelSettings)
  const { backup_cron } = valuesOf(resolved, siteRoleSettings)
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
function openSearches({ resolved }: Standing): ProfileProblem[] {
  const { host, username, password, verify, pki_cert, pki_key } = valuesOf(resolved, searchSettings)
  if (host === undefined) return []
  const { protocol, hostname } = new URL(host)
  const { deployment_profile } = valuesOf(resolved, platformSettings)
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
