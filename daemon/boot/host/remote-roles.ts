// Requests to roles on other machines: over TLS with the certificate of the requesting role, to a server that is the other one.
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import { anyAddress } from '../../../adapters/platform/address-rule/address-rule.ts'
import { HttpClient } from '../../../adapters/platform/http-client/http-client.ts'
import type { ListenerTls } from '../../../adapters/platform/http-server/listener-tls.ts'
import { parseCertificates } from '../../../adapters/transport/mtls/material.ts'
import { Refusal } from '../../kernel/error/errors.ts'
import { identifyRole, isIssuedByOneOf } from '../../kernel/identity/role-certificate.ts'
import type { Log } from '../../kernel/telemetry/log.ts'
import { type ReportThrottle, reportThrottle } from '../../kernel/telemetry/report-throttle.ts'
import { followCertificates } from '../follow-certificates.ts'
import { roleAuthoritiesFile, roleCertificateFile, type SiteFolder } from '../storage/site-folder.ts'
import { max_connections, type RoleResponse, type SocketRequest, sendRoleRequest } from './socket-request.ts'

export type RemoteRolesOptions = {
  readonly folder: SiteFolder
  readonly site: string
  /** Authorities of servers with certificates for their host names. */
  readonly ca_file: string | undefined
  readonly log: Log
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number
}

/** How often the files of a requesting role are looked at. */
const look_interval_ms = 1_000
const connect_timeout_ms = 5_000

/** Whether requests to the URL use TLS, in whatever letters its scheme is written. */
export function isOverTls(url: string): boolean {
  return new URL(url).protocol === 'https:'
}

/** Connections of one requesting role, by the requested one: others once its certificate or an authority changes. */
type RoleConnections = { tls: ListenerTls; clients: Map<string, HttpClient>; looked_at: number; look: () => void }

export class RemoteRoles {
  readonly #options: RemoteRolesOptions
  readonly #connections = new Map<string, RoleConnections>()
  readonly #throttle: ReportThrottle

  constructor(options: RemoteRolesOptions) {
    this.#options = options
    this.#throttle = reportThrottle(options.now)
  }

  /** Throws `Refusal('unavailable')` without a complete response of this very role. */
  async request(requesting: string, target: string, url: string, request: SocketRequest): Promise<RoleResponse> {
    // The start has checked the settings: a token that leaves in the clear is lost.
    if (!isOverTls(url)) throw new TypeError(`the URL of the role ${target} is not one of TLS`)
    let client: HttpClient
    try {
      client = this.#findClient(requesting, target)
    } catch (error) {
      this.#report(requesting, target, error)
      throw new Refusal('unavailable', `the certificate of the role ${requesting} cannot be used`)
    }
    return await sendRoleRequest(client, url, request, (error) => this.#report(requesting, target, error))
  }

  /** Ends all connections, those in use included. */
  close(): void {
    for (const { clients } of this.#connections.values()) for (const client of clients.values()) client.close()
    this.#connections.clear()
  }

  #findClient(requesting: string, target: string): HttpClient {
    const connections = this.#connections.get(requesting) ?? this.#open(requesting)
    this.#connections.set(requesting, connections)
    const { monotonic } = this.#options
    if (monotonic() - connections.looked_at >= look_interval_ms) {
      connections.looked_at = monotonic()
      connections.look()
    }
    const client = connections.clients.get(target) ?? this.#connect(target, connections.tls)
    connections.clients.set(target, client)
    return client
  }

  #open(role: string): RoleConnections {
    const { folder, ca_file, log, now, monotonic } = this.#options
    const read = (): ListenerTls => {
      const pair = readFileSync(roleCertificateFile(folder, role), 'utf8')
      const others = ca_file === undefined ? '' : readFileSync(ca_file, 'utf8')
      return { cert: pair, key: pair, ca: `${readFileSync(roleAuthoritiesFile(folder), 'utf8')}\n${others}` }
    }
    const running = read()
    const replace = (tls: ListenerTls) => {
      for (const client of connections.clients.values()) client.retire()
      Object.assign(connections, { tls, clients: new Map() })
    }
    const look = followCertificates({ listener: `${role}:calls`, running, read, replace, log, now })
    const connections: RoleConnections = { tls: running, clients: new Map(), looked_at: monotonic(), look }
    return connections
  }

  #connect(target: string, { cert, key, ca }: ListenerTls): HttpClient {
    const authorities = parseCertificates(readFileSync(roleAuthoritiesFile(this.#options.folder), 'utf8'))
    const findServerFault = (host: string, shown: PeerCertificate) =>
      this.#findServerFault(target, authorities, host, shown)
    const mutual = { cert, key, findServerFault }
    return new HttpClient({ rule: anyAddress, ca, mutual, max_connections, connect_timeout_ms })
  }

  /** A certificate of the site's authority must name the role; any other, the host. */
  #findServerFault(
    target: string,
    authorities: readonly X509Certificate[],
    host: string,
    shown: PeerCertificate,
  ): Error | undefined {
    const { site, ca_file, now } = this.#options
    const certificate = new X509Certificate(shown.raw)
    if (isIssuedByOneOf(certificate, authorities)) {
      const found = identifyRole(certificate, 'server', { site, authorities, now: now() })
      if ('role' in found && found.role === target) return undefined
      const reason = 'fault' in found ? found.fault : `it is that of ${found.role}`
      return new Error(`the certificate at ${host} is not that of the role ${target}: ${reason}`)
    }
    if (ca_file !== undefined) return checkServerIdentity(host, shown)
    return new Error(`the certificate at ${host} is not that of the role ${target}, and role_calls.ca_file is not set`)
  }

  #report(role: string, target: string, error: unknown): void {
    const times = this.#throttle(`role calls ${role} ${target}`)
    const reason = error instanceof Error ? error.message : String(error)
    if (times !== undefined) this.#options.log.warn('role_calls.failed', { role, target, reason, times })
  }
}
